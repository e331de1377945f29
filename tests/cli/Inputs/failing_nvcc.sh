#!/bin/sh
# Stands for an nvcc that rejects the program.
echo 'scale.co(12): error: something is wrong' >&2
exit 2
