# SPDX-License-Identifier: Apache-2.0
"""The TT dialects, passes and translations, on MLIR's Python bindings."""
