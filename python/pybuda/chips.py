# SPDX-License-Identifier: Apache-2.0
"""Grids of cores: of architectures, of products, of device descriptors, less harvested rows."""

from __future__ import annotations

import re
from pathlib import Path

from .config import CompilerConfig
from .enums import BackendDevice
from .errors import PyBudaError

GRIDS = {BackendDevice.Grayskull: (10, 12), BackendDevice.Wormhole_B0: (8, 8)}
PRODUCTS = {
    "gs_e150": (BackendDevice.Grayskull, (10, 12)),
    "gs_e300": (BackendDevice.Grayskull, (10, 12)),
    "wh_n150": (BackendDevice.Wormhole_B0, (8, 8)),
    "wh_n300": (BackendDevice.Wormhole_B0, (8, 8)),
}


def grid_of(arch: BackendDevice, config: CompilerConfig) -> tuple[int, int]:
    """Rows and columns of cores that the configuration leaves.

    Raises:
        PyBudaError: a product of another architecture, or a descriptor that has no grid.
    """
    rows, columns = GRIDS[arch]
    if config.device_config:
        product, (rows, columns) = PRODUCTS[config.device_config]
        if product is not arch:
            raise PyBudaError(f"device_config {config.device_config!r} is a {product}; the device is a {arch}")
    if config.backend_device_descriptor_path:
        rows, columns = described(Path(config.backend_device_descriptor_path))
    return rows - len(set(config.harvested_rows)), columns


def described(path: Path) -> tuple[int, int]:
    """Rows and columns of the workers that a device descriptor (YAML) names, as x-y.

    Raises:
        PyBudaError: there is no such file, or its workers are no rectangle.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PyBudaError(f"device descriptor {path}: not readable: {error}") from None
    found = re.search(r"^functional_workers:\s*\[(.*?)\]", text, re.DOTALL | re.MULTILINE)
    workers = {(int(x), int(y)) for x, y in re.findall(r"(\d+)-(\d+)", found[1])} if found else set()
    columns, rows = {x for x, _ in workers}, {y for _, y in workers}
    if not workers or len(workers) != len(columns) * len(rows):
        raise PyBudaError(
            f"device descriptor {path}: functional_workers has {len(workers)} workers; expected a rectangle"
        )
    return len(rows), len(columns)
