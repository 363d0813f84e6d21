"""The TT dialects, passes and translations, on MLIR's Python bindings."""
