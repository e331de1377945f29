"""Comparison of attention kernels with other implementations, in one run on one card.

In: a machine with an sm_90 card, the CUDA toolkit, PyTorch for the peers. Out: one folder a run with
every sample, the state of the card, summaries and plots. `main` reads as a table of contents. Needs
nothing beyond the standard library, but for the peers (worker.py) and the plots (plots.py).
"""
