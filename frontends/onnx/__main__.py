# SPDX-License-Identifier: Apache-2.0
"""`python -m ttmlir.onnx` is `ttmlir-import-onnx`."""

import sys

from .command import main

__all__ = ["main"]

if __name__ == "__main__":
    sys.exit(main())
