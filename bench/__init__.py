# SPDX-License-Identifier: Apache-2.0
"""Benchmarks that compare this project with PyTorch in the same process. `python -m bench --help` says how to run
them."""
