# SPDX-License-Identifier: Apache-2.0
"""The chips that are placed on: cores, memory, and what work costs, by the tables of the runtime."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from _ttmlir_runtime import runtime

from ..config import CompilerConfig
from ..enums import BackendDevice
from ..errors import PyBudaError

# The runtime's chip whose figures an architecture has; none is simulated as Grayskull, which takes Wormhole's.
SIMULATED = {
    BackendDevice.Grayskull: "wormhole_b0", BackendDevice.Wormhole_B0: "wormhole_b0",
    BackendDevice.Blackhole: "blackhole",
}  # fmt: skip
# Rows and columns of cores that products have: 72 an n150, 64 each chip of an n300 (docs.tenstorrent.com,
# aibs/wormhole/specifications). A simulated chip has 64.
PRODUCTS = {
    "gs_e150": (BackendDevice.Grayskull, (10, 12)),
    "gs_e300": (BackendDevice.Grayskull, (10, 12)),
    "wh_n150": (BackendDevice.Wormhole_B0, (9, 8)),
    "wh_n300": (BackendDevice.Wormhole_B0, (8, 8)),
}
# Rows of the network that have workers, in order: those above and below the middle row of memory and Ethernet, or, on
# Blackhole, below the two rows of Ethernet.
WORKER_ROWS = dict.fromkeys(SIMULATED, (1, 2, 3, 4, 5, 7, 8, 9, 10, 11)) | {
    BackendDevice.Blackhole: (2, 3, 4, 5, 6, 7, 8, 9, 10, 11)
}


TILE = 32  # rows, and columns


@dataclass(frozen=True)
class Memory:
    """Channels of DRAM on the device and on the host, and the bytes of each; Wormhole's have two banks.

    places: x and y in the network of each channel of the device.
    """

    channels: int
    channel_bytes: int
    host_channels: int = 4
    host_bytes: int = 1 << 30
    places: tuple[tuple[int, int], ...] = ()


MEMORY = {
    BackendDevice.Grayskull: Memory(
        8, 1 << 30, places=((1, 0), (1, 6), (4, 0), (4, 6), (7, 0), (7, 6), (10, 0), (10, 6))
    ),
    BackendDevice.Wormhole_B0: Memory(6, 2 << 30, places=((0, 0), (0, 5), (5, 0), (5, 2), (5, 3), (5, 5))),
    BackendDevice.Blackhole: Memory(
        8, 4080 << 20, places=((0, 0), (0, 2), (0, 9), (0, 5), (9, 0), (9, 2), (9, 9), (9, 5))
    ),
}
GRIDS = {BackendDevice.Grayskull: (10, 12), BackendDevice.Wormhole_B0: (8, 8), BackendDevice.Blackhole: (10, 13)}
L1_BYTES = {BackendDevice.Grayskull: 1 << 20}  # of a core, where the runtime has no such chip
COLUMNS = {
    BackendDevice.Grayskull: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12),
    BackendDevice.Wormhole_B0: (1, 2, 3, 4, 6, 7, 8, 9),
    BackendDevice.Blackhole: (1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15),
}
HEADER = re.compile(r"^(\w+):\s*([\w.]+)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class Costs:
    """Nanoseconds of the chip for a byte of DRAM; from one epoch to the next.

    arch: the runtime's chip, whose cost rules say what ops take.
    """

    arch: str
    dram_byte: float
    launch: float
    clock_ghz: float


@functools.cache
def costs(arch: str) -> Costs:
    def times(**work: int) -> tuple[float, ...]:
        return runtime.estimate_times(arch, 1, **work)

    many = 1 << 20
    return Costs(
        arch, times(dram_bytes=many)[2] / many, times()[4],
        runtime.chip_figures(arch)["clock_ghz"],
    )  # fmt: skip


@dataclass(frozen=True)
class Chip:
    """A chip as it is placed on. x, y: where columns and rows of cores are in the network."""

    arch: BackendDevice
    rows: int
    columns: int
    l1_size: int
    l1_base: int
    l1_alignment: int
    memory: Memory
    dram_base: int
    dram_alignment: int
    x: tuple[int, ...]
    y: tuple[int, ...]
    costs: Costs

    @property
    def cores(self) -> int:
        return self.rows * self.columns

    @property
    def l1_usable(self) -> int:
        return self.l1_size - self.l1_base


def grid_of(arch: BackendDevice, config: CompilerConfig) -> tuple[int, int]:
    """Returns rows and columns of cores that the configuration leaves.

    Raises:
        PyBudaError: a product of another architecture, or a descriptor that has no grid.
    """
    chip = chip_of(arch, config)
    return chip.rows, chip.columns


def chip_of(arch: BackendDevice, config: CompilerConfig) -> Chip:
    """Returns the chip that the configuration describes.

    Raises:
        PyBudaError: a product of another architecture, a descriptor without a grid, no rows left.
    """
    simulated = SIMULATED[arch]
    figures = runtime.chip_figures(simulated)
    rows, columns = GRIDS[arch]
    if config.device_config:
        product, (rows, columns) = PRODUCTS[config.device_config]
        if product is not arch:
            raise PyBudaError(f"device_config {config.device_config!r} is a {product}; the device is a {arch}")
    chip = Chip(
        arch, rows, columns, L1_BYTES.get(arch, figures["l1_size"]), figures["l1_unreserved_base"],
        figures["noc_l1_address_align_bytes"], MEMORY[arch], figures["dram_unreserved_base"],
        figures["noc_dram_address_align_bytes"], COLUMNS[arch], WORKER_ROWS[arch], costs(simulated),
    )  # fmt: skip
    stored = Path(config.backend_runtime_params_path)
    if config.backend_device_descriptor_path:
        chip = described(chip, Path(config.backend_device_descriptor_path))
    elif config.backend_runtime_params_path and not config.store_backend_db_to_yaml and stored.exists():
        chip = described(chip, stored)
    harvested = set(config.harvested_rows)
    left = chip.rows - len(harvested)
    if left < 1:
        raise PyBudaError(f"harvested_rows are {sorted(harvested)}; the chip has {chip.rows} rows, and none is left")
    y = tuple(row for row in chip.y if row not in harvested)[:left]
    return replace(chip, rows=left, x=chip.x[: chip.columns], y=y if len(y) == left else chip.y[:left])


def described(chip: Chip, path: Path) -> Chip:
    """Returns the chip of a device descriptor (YAML): its workers, named x-y, its L1, and its channels of DRAM.

    Raises:
        PyBudaError: there is no such file, its workers are no rectangle, or it is of another architecture.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PyBudaError(f"device descriptor {path}: not readable: {error}") from None
    found = re.search(r"^functional_workers:\s*\[(.*?)\]", text, re.DOTALL | re.MULTILINE)
    workers = set(cores(found[1])) if found else set()
    x, y = sorted({x for x, _ in workers}), sorted({y for _, y in workers})
    if not workers or len(workers) != len(x) * len(y):
        raise PyBudaError(
            f"device descriptor {path}: functional_workers has {len(workers)} workers; expected a rectangle"
        )
    fields = dict(HEADER.findall(text))
    name = fields.get("arch_name", chip.arch.name)
    if name.lower() != chip.arch.name.lower():
        raise PyBudaError(f"device descriptor {path}: arch_name is {name}; the device is a {chip.arch}")
    memory = chip.memory
    channels = re.search(r"^dram:\s*\[(.*)\]\s*$", text, re.MULTILINE)
    if channels and (places := [cores(part)[0] for part in re.findall(r"\[([^\[\]]+)\]", channels[1]) if cores(part)]):
        memory = replace(memory, channels=len(places), places=tuple(places))
    if fields.get("dram_bank_size", "").isdigit():
        memory = replace(memory, channel_bytes=int(fields["dram_bank_size"]))
    size = fields.get("worker_l1_size", "")
    return replace(
        chip, rows=len(y), columns=len(x), x=tuple(x), y=tuple(y), memory=memory,
        l1_size=int(size) if size.isdigit() else chip.l1_size,
    )  # fmt: skip


def descriptor(chip: Chip) -> str:
    """Returns the device descriptor of a chip: what `described` reads."""
    workers = "\n".join("  " + " ".join(f"{x}-{y}," for x in chip.x) for y in chip.y)
    dram = ", ".join(f"[{x}-{y}]" for x, y in chip.memory.places)
    return (
        f"arch_name: {chip.arch.name.upper()}\ngrid: {{x_size: {chip.columns}, y_size: {chip.rows}}}\n"
        f"functional_workers: [\n{workers}\n]\ndram: [{dram}]\nworker_l1_size: {chip.l1_size}\n"
        f"dram_bank_size: {chip.memory.channel_bytes}\n"
    )


def host_chips(path: Path, chips: Sequence[int]) -> list[int]:
    """Returns the chips that a cluster descriptor (YAML) has at the host.

    Raises:
        PyBudaError: there is no such file, or it lacks one of these chips.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise PyBudaError(f"cluster descriptor {path}: not readable: {error}") from None

    def numbers(key: str) -> list[int]:
        found = re.search(rf"^{key}:[ \t]*([^\n]*(?:\n[ \t]+[^\n]*)*)", text, re.MULTILINE)
        return [int(x) for x in re.findall(r"(\d+):", found[1])] if found else []

    known = numbers("chips")
    if missing := [x for x in chips if x not in known]:
        raise PyBudaError(f"cluster descriptor {path}: no chip {missing[0]}; it has chips {', '.join(map(str, known))}")
    return numbers("chips_with_mmio")


def cores(text: str) -> Sequence[tuple[int, int]]:
    return [(int(x), int(y)) for x, y in re.findall(r"(\d+)-(\d+)", text)]


def hops(a: tuple[int, int], b: tuple[int, int]) -> int:
    """Returns steps between two places of the network, whose ends meet."""
    width, height = 10, 12
    x, y = (abs(a[0] - b[0]), abs(a[1] - b[1]))
    return min(x, width - x) + min(y, height - y)
