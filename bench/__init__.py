# SPDX-License-Identifier: Apache-2.0
"""Benchmarks, each with PyTorch beside us in the same process. `python -m bench --help` says how to run them."""
