# SPDX-License-Identifier: Apache-2.0
"""Build modules in Python, compile them, run them on the simulated device and compare every value with its golden."""
