# SPDX-License-Identifier: Apache-2.0
"""What the library has and the dialect does not: classes, enums, methods, parameters of functions."""
