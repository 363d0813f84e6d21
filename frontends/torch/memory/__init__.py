# SPDX-License-Identifier: Apache-2.0
"""Arguments of a graph that share memory, and the consequences for programs of values alone."""
