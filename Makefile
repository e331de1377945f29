# Front door for people and CI; the build itself is CMake (see CMakePresets.json).
# On Debian 12 and Ubuntu 24.04 each target first installs the packages it lacks, if it may.
JOBS ?= $(shell nproc)
PREFIX ?= /usr/local

.PHONY: help build demo test bench package install format lint clean deps deps-package deps-test

help:
	@echo "make build    the compiler and the simulator library, in build/release"
	@echo "make demo     build, compile the first attention kernel, run and verify it"
	@echo "make test     build with tests in build/dev and run all of them"
	@echo "make bench    measure the compiler and the simulator"
	@echo "make package  archives and a .deb in dist/, and the kernels for use without the compiler"
	@echo "make install  install below PREFIX ($(PREFIX))"
	@echo "make format   format the C++ sources;  make lint  run clang-tidy"

deps:
	@tools/install_deps build

deps-package:
	@tools/install_deps package

deps-test:
	@tools/install_deps test

build: deps
	cmake --preset release
	cmake --build --preset release --parallel $(JOBS)

demo: build
	@tools/demo build/release

test: deps-test
	cmake --preset dev
	cmake --build --preset dev --parallel $(JOBS)
	ctest --preset dev --output-on-failure

bench: deps-test
	cmake --preset bench
	cmake --build --preset bench --parallel $(JOBS)
	tools/bench build/bench

package: deps-package build
	cpack --config build/release/CPackConfig.cmake
	tools/package_attention --choreo build/release/bin/choreo

install: build
	cmake --install build/release --prefix $(PREFIX)

format: deps-test
	tools/format

lint: deps-test
	tools/lint

clean:
	rm -rf build dist
