# SPDX-License-Identifier: Apache-2.0
"""Verification: modules are run on devices and compared with PyTorch."""

from .backend import verify_module, verify_module_pipeline
from .config import TestKind, VerifyConfig

__all__ = ["TestKind", "VerifyConfig", "verify_module", "verify_module_pipeline"]
