# SPDX-License-Identifier: Apache-2.0
"""Parts of the library that the dialect lacks: classes, enums, methods, parameters of functions."""
