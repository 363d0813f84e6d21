# SPDX-License-Identifier: Apache-2.0
"""Which arguments of a graph share memory, and what that means for programs of values alone."""
