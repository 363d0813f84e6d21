# SPDX-License-Identifier: Apache-2.0
"""The machine that results were measured on."""

from __future__ import annotations

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("torch", "openvino", "numpy")
# The vector and matrix units that decide which kernels all sides run.
FEATURES = ("avx2", "avx512f", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8", "asimd", "bf16", "sve")


def cpu_info() -> str:
    try:
        return Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""


def cpu_model() -> str:
    names = (line.partition(":")[2].strip() for line in cpu_info().splitlines() if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def cpu_features() -> list[str]:
    lines = (line for line in cpu_info().splitlines() if line.startswith(("flags", "Features")))
    flags = {flag for line in lines for flag in line.split()}
    return [feature for feature in FEATURES if feature in flags]


def memory_gb() -> float:
    return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)


def installed(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def machine(threads: int) -> dict[str, object]:
    return {
        "cpu": cpu_model(),
        "features": cpu_features(),
        "cores": len(os.sched_getaffinity(0)),
        "threads": threads,
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {package: found for package in PACKAGES if (found := installed(package))},
        "load_before": round(os.getloadavg()[0], 2),
    }
