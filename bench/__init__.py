"""Benchmarks, each with PyTorch beside us in the same process. `python -m bench --help` says how to run them."""
