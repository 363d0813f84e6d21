# SPDX-License-Identifier: Apache-2.0
"""lit configuration: .mlir files run the tools of the build tree ($TTMLIR_BUILD, or build/ in the checkout)."""

import os
from pathlib import Path

import lit.formats

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("TTMLIR_BUILD", ROOT / "build"))
LLVM = "/usr/lib/llvm-22/bin"

config.name = "ttmlir"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs"]
config.test_source_root = str(Path(__file__).parent)
config.test_exec_root = str(BUILD / "test" / "ttmlir")
config.environment["PATH"] = os.pathsep.join([str(BUILD / "bin"), LLVM, os.environ["PATH"]])
config.environment["FILECHECK_OPTS"] = "--enable-var-scope"
config.substitutions.append(("%python", str(ROOT / ".venv" / "bin" / "python")))
config.substitutions.append(("%root", str(ROOT)))
