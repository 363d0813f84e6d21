# SPDX-License-Identifier: Apache-2.0
"""Blocks of ops on the cores that the compiler gives them: pieces of results, micro-blocks, and buffers in L1."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..capture.formats import DataFormat
from ..config import CompilerConfig
from ..errors import PlacementError
from ..tenstorrent.chip import Chip
from .graph import Op, Queue, divisors, round_up, tile_bytes, tiles

# Tiles of half of the destination register, of which one half computes while the other is packed.
DST_TILES, DST_TILES_F32 = 8, 4
DIRECTIONS = {"R": "r", "C": "c", "RZ": "r", "CZ": "c", "Z": "z"}
HELD = ("parameter", "constant")  # queues whose values may be in L1 before the first input


@dataclass(frozen=True, slots=True)
class Model:
    """An op on its grid of cores.

    grid: rows and columns of cores. t: pieces in which the result comes, and of them streamed by rows and by columns.
    direction: "r", "c" or "z", or "" where a result comes whole. mblock: micro-blocks of a core, ublock: tiles of each.
    u_kt, m_k: tiles of the inner dimension at a time, and how many times. in_l1: operands whose whole part of a core
        is in its L1 before the first input. buffers: bytes of L1 of a core by what they hold.
    cycles: of the cost model, with everything that the op reads at hand.
    """

    grid: tuple[int, int]
    t: int
    stream: tuple[int, int]
    direction: str
    mblock: tuple[int, int]
    ublock: tuple[int, int]
    u_kt: int
    m_k: int
    in_l1: tuple[int, ...]
    input_tiles: tuple[int, ...]
    buffers: tuple[tuple[str, int], ...]
    cycles: int

    @property
    def cores(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def l1_bytes(self) -> int:
        return sum(size for _, size in self.buffers)


def models_of(op: Op, chip: Chip, config: CompilerConfig, microbatch: int) -> list[Model]:
    """Returns the blocks of an op that fit into L1, in order of preference: the fewest pieces of the result, in each
    direction in which it may come, with the largest piece of the inner dimension.

    Raises:
        PlacementError: nothing fits, or a request contradicts the shape of the result; says why.
    """
    overrides = config.op_overrides.get(op.name, {})
    grid, out = op.placed.grid, op.tiles
    requested = tuple(overrides.get("grid_shape", grid))
    least: Model | None = None
    found: list[Model] = []
    pieces = 0
    has = f"the device has {chip.rows}x{chip.columns} cores"
    if config.place_on_one_row:
        has = f"place_on_one_row allows 1x{chip.columns} cores"
    reason = f"override_op_size asks for {requested[0]}x{requested[1]}; {has}"
    if requested != grid or out.r % grid[0] or ("grid_shape" in overrides and out.c % grid[1]):
        raise refused(op, f"{reason}, and rows and columns divide those of the tiles")
    for direction, factors in streams(op, config, overrides):
        if found and max(factors) > pieces and config.balancer_policy != "MaximizeTMinimizeGrid":
            break
        if out.r % (factors[0] * grid[0]) or out.c % (factors[1] * grid[1]):
            continue
        pieces = max(factors)
        for model in blocked(op, chip, config, microbatch, direction, factors):
            if model.l1_bytes <= chip.l1_usable:
                found.append(model)
                break
            least = model if least is None or model.l1_bytes < least.l1_bytes else least
    if found:
        most = config.balancer_policy == "MaximizeTMinimizeGrid"
        return sorted(found, key=lambda m: -m.t if most else m.t)
    if least is not None:
        sizes = ", ".join(f"{name} {size}" for name, size in least.buffers if size)
        hint = "" if config.enable_t_streaming else "; enable_t_streaming=True lets it stream"
        raise refused(
            op, f"its buffers take {least.l1_bytes} bytes of L1 at least, on {grid[0]}x{grid[1]} cores ({sizes}); "
            f"a core has {chip.l1_usable}{hint}",
        )  # fmt: skip
    if "u_kt" in overrides:
        reason = f"override_u_kt asks for {overrides['u_kt']}; expected a divisor of the inner dimension in tiles"
        raise refused(op, reason)
    requests = ", ".join(f"{k} {v}" for k, v in overrides.items() if k.startswith("t_stream"))
    raise refused(op, f"{requests or 'its stream'} does not divide its tiles on {grid[0]}x{grid[1]} cores")


def refused(op: Op, reason: str) -> PlacementError:
    t, inner = op.tiles, f", inner {op.inner}" if op.inner else ""
    return PlacementError(
        f"No valid grids for op {op.name!r} ({op.type}, {t.z}x{t.r}x{t.c} tiles of {op.df.name}{inner}): {reason}"
    )


def streams(op: Op, config: CompilerConfig, overrides: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yields directions with factors of rows and columns, the least first."""
    out = op.tiles
    direction = DIRECTIONS.get(overrides.get("t_stream_dir", ""), "")
    if "t_stream_shape" in overrides:
        r, c = overrides["t_stream_shape"]
        if not config.enable_t_streaming and (r, c) != (1, 1):
            raise PlacementError(
                f"override_t_stream_shape({op.name!r}, ({r}, {c})) while enable_t_streaming is False; expected True"
            )
        yield ("", (1, 1)) if (r, c) == (1, 1) else (direction or ("r" if r > 1 else "c"), (r, c))
        return
    if not direction:
        yield "", (1, 1)
    if not config.enable_t_streaming or config.manual_t_streaming:
        if direction:
            yield direction, (1, 1)
        return
    dim = op.attributes.get("dim")
    # A reduction needs whole rows; of columns, whole columns. Pieces of a concatenation are of one operand each.
    bound = "" if op.type == "splice" and dim == "z" else dim or ""
    kinds = [direction] if direction else [x for x in "zrc" if x not in bound]
    if "z" in kinds and out.z > 1:
        yield "z", (1, 1)
    factors = [("r", (n, 1)) for n in divisors(out.r) if n > 1 and "r" in kinds]
    factors += [("c", (1, n)) for n in divisors(out.c) if n > 1 and "c" in kinds]
    if direction in ("r", "c"):
        yield direction, (1, 1)
    yield from sorted(factors, key=lambda x: (max(x[1]), x[0] != "r"))


def blocked(
    op: Op, chip: Chip, config: CompilerConfig, microbatch: int, direction: str, factors: tuple[int, int]
) -> Iterator[Model]:
    """Yields models, the largest piece of the inner dimension first, operands in L1 before those in DRAM."""
    overrides = config.op_overrides.get(op.name, {})
    held = tuple(i for i, x in enumerate(op.operands) if isinstance(x.source, Queue) and x.source.kind in HELD)
    in_dram = overrides.get("force_dram_parameters")
    kept = [held] if in_dram is False else [()]
    if in_dram is None and held and op.type != "embedding":
        default = config.default_dram_parameters
        kept = [held, ()] if (microbatch > 1 if default is None else not default) else [()]
    pieces = [0]
    if op.inner and "u_kt" in overrides:
        pieces = [overrides["u_kt"]] if op.inner % overrides["u_kt"] == 0 else []
    elif op.inner:
        every = divisors(op.inner) if config.enable_enumerate_u_kt else sorted({1, op.inner})
        pieces = every[::-1]
    for in_l1 in kept:
        for u_kt in pieces:
            yield model_of(op, chip, overrides, direction, factors, in_l1, u_kt)


def model_of(
    op: Op, chip: Chip, overrides: Mapping[str, Any], direction: str, factors: tuple[int, int],
    in_l1: tuple[int, ...], u_kt: int,
) -> Model:  # fmt: skip
    out, grid = op.tiles, op.placed.grid
    rows, columns = out.r // factors[0] // grid[0], out.c // factors[1] // grid[1]
    ublock = block(rows, columns, DST_TILES_F32 if op.acc_df is DataFormat.Float32 else DST_TILES)
    m_k = op.inner // u_kt if u_kt else 1
    buffers: list[tuple[str, int]] = []
    held: list[int] = []
    for number, operand in enumerate(op.operands):
        size, shape = tile_bytes(operand.source.df), tiles(operand.shape)
        if op.is_matmul and number < 2:
            tiles_of_block = rows * u_kt if number == 0 else u_kt * columns
            whole = rows * op.inner if number == 0 else op.inner * columns
        else:
            tiles_of_block = min(ublock[0], shape.r) * min(ublock[1], shape.c) * max(1, u_kt)
            whole = max(1, min(rows * columns, -(-shape.r * shape.c // (grid[0] * grid[1]))))
        count = overrides.get(f"input_buffer_{number}", 2)
        if number in in_l1:
            count, tiles_of_block = 1, max(1, min(shape.z, out.z)) * whole
        buffers.append((f"input {number}", count * round_up(tiles_of_block * size, chip.l1_alignment)))
        held.append(count * tiles_of_block)
    pieces = 1 if direction else out.z
    buffers.append(("output", 2 * pieces * round_up(rows * columns * tile_bytes(op.df), chip.l1_alignment)))
    if m_k > 1 and op.intermed_df is not op.df:
        buffers.append(("intermediates", round_up(rows * columns * tile_bytes(op.intermed_df), chip.l1_alignment)))
    return Model(
        grid, out.z * factors[0] * factors[1], factors, direction, (rows // ublock[0], columns // ublock[1]), ublock,
        u_kt, m_k, in_l1, tuple(held), tuple(buffers), op.placed.cycles,
    )  # fmt: skip


def block(rows: int, columns: int, most: int) -> tuple[int, int]:
    """Returns the largest micro-block of `most` tiles that rows and columns are made of; of equal ones the squarest."""
    found = [
        (r, max(d for d in divisors(columns) if r * d <= most)) for r in divisors(rows) if r <= most
    ]  # fmt: skip
    return max(found, key=lambda x: (x[0] * x[1], -abs(x[0] - x[1]), x[1]))
