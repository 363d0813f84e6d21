# SPDX-License-Identifier: Apache-2.0
"""The grids of cores that an op can have, with its blocks, its buffers in L1 and its time on each."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..capture.formats import DataFormat
from ..config import CompilerConfig
from .chip import Chip
from .graph import Op, PlacementError, Queue, Tiles, divisors, round_up, tile_bytes, tiles

# Tiles of half of the destination register, of which one half computes while the other is packed.
DST_TILES, DST_TILES_F32 = 8, 4
LARGEST_STREAM = 64
DIRECTIONS = {"R": "r", "C": "c", "RZ": "r", "CZ": "c", "Z": "z"}


@dataclass(frozen=True, slots=True)
class Model:
    """An op on a grid of cores.

    grid: rows and columns of cores. t: pieces in which the result comes, and of them streamed by rows and by columns.
    direction: "r", "c" or "z", or "" where a result comes whole. mblock: micro-blocks of a core, ublock: tiles of each.
    u_kt, m_k: tiles of the inner dimension at a time, and how many times. in_l1: operands whose whole part of a core
        is in its L1 before the first input. buffers: bytes of L1 of a core by what they hold.
    cycles: of one input, with everything that it reads at hand; dram_bytes: what one input reads from memory.
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
    dram_bytes: int

    @property
    def cores(self) -> int:
        return self.grid[0] * self.grid[1]

    @property
    def l1_bytes(self) -> int:
        return sum(size for _, size in self.buffers)


class Models:
    """The models of ops on a chip, under a configuration. Ops that are alike have the same."""

    def __init__(self, chip: Chip, config: CompilerConfig, microbatch: int) -> None:
        self.chip, self.config, self.microbatch = chip, config, microbatch
        self._known: dict[Any, list[Model]] = {}
        self._signatures: dict[Op, Any] = {}

    def signature(self, op: Op) -> Any:
        """Returns equal for ops whose models are the same."""
        known = self._signatures.get(op)
        if known is None:
            overrides = self.config.op_overrides.get(op.name, {})
            operands = tuple((x.shape, x.source.df, isinstance(x.source, Queue) and x.source.kind) for x in op.operands)
            parts = tuple((p.type, p.shape, p.inner, p.fidelity) for p in op.parts)
            known = self._signatures[op] = (
                op.type, op.shape, op.df, operands, op.inner, op.fidelity, op.acc_df, op.intermed_df, parts,
                op.attributes.get("dim"), op.work, op.place and (op.place.grid, op.place.cycles),
                tuple(sorted((k, repr(v)) for k, v in overrides.items())),
            )  # fmt: skip
        return known

    def of(self, op: Op) -> list[Model]:
        """Returns the models that fit, one at least.

        Raises:
            PlacementError: there is none; says why.
        """
        key = self.signature(op)
        if key not in self._known:
            self._known[key] = sorted(self._all(op), key=self._order(op))
        return self._known[key]

    def _order(self, op: Op) -> Callable[[Model], Any]:
        """Returns the order of preference: the program's grid, then those of about as many cores. Ops that no program
        computes have the fewest cores on which they take no longer than the launch of an epoch."""
        most_pieces = self.config.balancer_policy == "MaximizeTMinimizeGrid"
        fewest = self.config.balancer_policy in ("MinimizeGrid", "MaximizeTMinimizeGrid")
        launch = self.chip.costs.launch * self.chip.costs.clock_ghz

        def order(m: Model) -> Any:
            pieces = -m.t if most_pieces else 0
            if op.place is not None:
                cores = op.place.size[0] * op.place.size[1]
                return (m.grid != op.place.grid and not pieces, pieces, abs(m.cores - cores), m.t, m.cycles, m.grid)
            slow = not fewest and m.cycles > launch
            return (slow, pieces, m.cycles if slow else m.cores, m.cores, m.grid)

        return order

    def _all(self, op: Op) -> list[Model]:
        overrides = self.config.op_overrides.get(op.name, {})
        least: Model | None = None
        found: list[Model] = []
        shapes = False
        for direction, factors in self._streams(op, overrides):
            # On the program's grid a result may have to come in pieces.
            fits = bool(found) if op.place is None else any(m.grid == op.place.grid for m in found)
            if fits and not self._visits(overrides):
                break
            for grid in self._grids(op, factors, overrides):
                shapes = True
                for model in self._blocked(op, grid, direction, factors, overrides):
                    if model.l1_bytes <= self.chip.l1_usable:
                        found.append(model)
                        break
                    least = model if least is None or model.l1_bytes < least.l1_bytes else least
        if found:
            return found
        raise PlacementError(
            f"No valid grids for op {op.name!r} ({op.type}, {described(op)}): {self._why(overrides, least, shapes)}"
        )

    def _visits(self, overrides: Mapping[str, Any]) -> bool:
        """Whether streams are of interest where the op fits without: to policies that look for them."""
        return self.config.balancer_policy in ("MaximizeTMinimizeGrid", "Random") or "t_stream_shape" in overrides

    def _why(self, overrides: Mapping[str, Any], least: Model | None, shapes: bool) -> str:
        if least is not None:
            sizes = ", ".join(f"{name} {size}" for name, size in least.buffers if size)
            hint = "" if self.config.enable_t_streaming else "; enable_t_streaming=True lets it stream"
            return (
                f"its buffers take {least.l1_bytes} bytes of L1 at least, on {least.grid[0]}x{least.grid[1]} cores "
                f"({sizes}); a core has {self.chip.l1_usable}{hint}"
            )
        chip = f"the device has {self.chip.rows}x{self.chip.columns} cores"
        if "grid_shape" in overrides:
            r, c = overrides["grid_shape"]
            return f"override_op_size asks for {r}x{c}; {chip}, and rows and columns divide those of the tiles"
        if "u_kt" in overrides:
            return f"override_u_kt asks for {overrides['u_kt']}; expected a divisor of the inner dimension in tiles"
        requested = ", ".join(f"{k} {v}" for k, v in overrides.items() if k.startswith("t_stream"))
        return f"{requested or 'no grid'} does not divide its tiles; {chip}" if not shapes else chip

    def _streams(self, op: Op, overrides: Mapping[str, Any]) -> Iterator[tuple[str, tuple[int, int]]]:
        """Directions with factors of rows and columns, the least first."""
        out = op.tiles
        direction = DIRECTIONS.get(overrides.get("t_stream_dir", ""), "")
        if "t_stream_shape" in overrides:
            r, c = overrides["t_stream_shape"]
            if not self.config.enable_t_streaming and (r, c) != (1, 1):
                raise PlacementError(
                    f"override_t_stream_shape({op.name!r}, ({r}, {c})) while enable_t_streaming is False; expected True"
                )
            if (r, c) == (1, 1):
                yield "", (1, 1)
            elif out.r % r == 0 and out.c % c == 0:
                yield direction or ("r" if r > 1 else "c"), (r, c)
            return
        if not direction:
            yield "", (1, 1)
        if not self.config.enable_t_streaming or self.config.manual_t_streaming:
            if direction:
                yield direction, (1, 1)
            return
        kinds = [direction] if direction else self.directions(op)
        if "z" in kinds and out.z > 1:
            yield "z", (1, 1)
        factors = [("r", (n, 1)) for n in divisors(out.r) if n > 1 and "r" in kinds]
        factors += [("c", (1, n)) for n in divisors(out.c) if n > 1 and "c" in kinds]
        if direction in ("r", "c"):
            yield direction, (1, 1)
        yield from sorted((x for x in factors if max(x[1]) <= LARGEST_STREAM), key=lambda x: (max(x[1]), x[0] != "r"))

    @staticmethod
    def directions(op: Op) -> list[str]:
        """Returns the directions in which an op can stream: a reduction needs whole rows (of columns: whole
        columns)."""
        dim = op.attributes.get("dim")
        return ["z"] if dim == "" else [x for x in "zrc" if x not in (dim or "")]

    def _grids(self, op: Op, factors: tuple[int, int], overrides: Mapping[str, Any]) -> list[tuple[int, int]]:
        out = op.tiles
        rows, columns = self.chip.rows, self.chip.columns
        requested = overrides.get("grid_shape")
        placement = overrides.get("placement")
        turned = bool(placement and placement[2])
        # A grid that is turned has to fit when its rows are columns.
        limits = (columns, rows) if turned else (rows, columns)
        one_row = self.config.place_on_one_row
        return [
            (r, c)
            for r in divisors(out.r // factors[0])
            if r <= limits[0] and not (one_row and r > 1)
            for c in divisors(out.c // factors[1])
            if c <= limits[1] and (requested is None or (r, c) == tuple(requested))
        ]

    def _blocked(
        self, op: Op, grid: tuple[int, int], direction: str, factors: tuple[int, int], overrides: Mapping[str, Any]
    ) -> Iterator[Model]:
        """Models on a grid, the largest piece of the inner dimension first, operands in L1 before those in DRAM."""
        out = op.tiles
        rows, columns = out.r // factors[0] // grid[0], out.c // factors[1] // grid[1]
        ublock = block(rows, columns, DST_TILES_F32 if op.acc_df is DataFormat.Float32 else DST_TILES)
        for in_l1 in self._kept(op, overrides):
            for u_kt in self._pieces(op, overrides):
                yield self._model(op, out, grid, direction, factors, (rows, columns), ublock, in_l1, u_kt, overrides)

    def _kept(self, op: Op, overrides: Mapping[str, Any]) -> list[tuple[int, ...]]:
        """Returns the operands that may be in L1 from the beginning: parameters, if they are read more than once."""
        kinds = ("parameter", "constant")
        numbers = tuple(i for i, x in enumerate(op.operands) if isinstance(x.source, Queue) and x.source.kind in kinds)
        in_dram = overrides.get("force_dram_parameters")
        if in_dram is None:
            default = self.config.default_dram_parameters
            keep = self.microbatch > 1 if default is None else not default
            return [numbers, ()] if keep and numbers and op.type != "embedding" else [()]
        return [()] if in_dram or not numbers else [numbers]

    def _pieces(self, op: Op, overrides: Mapping[str, Any]) -> list[int]:
        if not op.inner:
            return [0]
        if "u_kt" in overrides:
            return [overrides["u_kt"]] if op.inner % overrides["u_kt"] == 0 else []
        return divisors(op.inner)[::-1] if self.config.enable_enumerate_u_kt else sorted({1, op.inner}, reverse=True)

    def _model(
        self, op: Op, out: Tiles, grid: tuple[int, int], direction: str, factors: tuple[int, int],
        part: tuple[int, int], ublock: tuple[int, int], in_l1: tuple[int, ...], u_kt: int, overrides: Mapping[str, Any],
    ) -> Model:  # fmt: skip
        chip, (rows, columns) = self.chip, part
        alignment = chip.l1_alignment
        mblock = (rows // ublock[0], columns // ublock[1])
        t = out.z * factors[0] * factors[1]
        m_k = op.inner // u_kt if u_kt else 1
        buffers: list[tuple[str, int]] = []
        held: list[int] = []
        dram = moved = 0
        for number, operand in enumerate(op.operands):
            size, shape = tile_bytes(operand.source.df), tiles(operand.shape)
            if op.is_matmul and number < 2:
                block_tiles = rows * u_kt if number == 0 else u_kt * columns
                whole = rows * op.inner if number == 0 else op.inner * columns
                # The second operand comes again for each piece of rows, the first for each of columns.
                again = factors[1] if number == 0 else factors[0]
            else:
                block_tiles = min(ublock[0], shape.r) * min(ublock[1], shape.c) * max(1, u_kt)
                whole, again = max(1, min(rows * columns, -(-shape.r * shape.c // (grid[0] * grid[1])))), 1
            if number in in_l1:
                buffers.append((f"input {number}", round_up(max(1, min(shape.z, out.z)) * whole * size, alignment)))
                held.append(max(1, min(shape.z, out.z)) * whole)
            else:
                count = overrides.get(f"input_buffer_{number}", 2)
                buffers.append((f"input {number}", count * round_up(block_tiles * size, alignment)))
                held.append(count * block_tiles)
                if isinstance(operand.source, Queue):
                    read = out.count if op.type == "embedding" and number else shape.count
                    dram += read * size * again
            moved += t * whole * size
        size = tile_bytes(op.df)
        pieces = 1 if direction else out.z
        buffers.append(("output", 2 * pieces * round_up(rows * columns * size, alignment)))
        if m_k > 1 and op.intermed_df is not op.df:
            buffers.append(("intermediates", round_up(rows * columns * tile_bytes(op.intermed_df), alignment)))
        moved += t * rows * columns * size
        ns = max((op.work or 0.0) / (grid[0] * grid[1]), moved * chip.costs.l1_byte)
        cycles = ns * chip.costs.clock_ghz
        if op.place is not None and op.place.grid == grid:
            cycles = op.place.cycles
        if m_k > 1:  # results are packed and unpacked between the pieces
            packed = (m_k - 1) * t * rows * columns * 2 * tile_bytes(op.intermed_df)
            cycles += packed * chip.costs.l1_byte * chip.costs.clock_ghz
        return Model(
            grid, t, factors, direction, mblock, ublock, u_kt, m_k, in_l1, tuple(held), tuple(buffers),
            max(1, math.ceil(cycles)), dram,
        )  # fmt: skip


def block(rows: int, columns: int, most: int) -> tuple[int, int]:
    """Returns the largest micro-block of `most` tiles that rows and columns are made of; of equal ones the squarest."""
    best = (1, 1)
    for r in divisors(rows):
        if r > most:
            break
        c = max(d for d in divisors(columns) if r * d <= most)
        if (r * c, -abs(r - c), c) > (best[0] * best[1], -abs(best[0] - best[1]), best[1]):
            best = (r, c)
    return best


def described(op: Op) -> str:
    t = op.tiles
    inner = f", inner {op.inner}" if op.inner else ""
    return f"{t.z}x{t.r}x{t.c} tiles of {op.df.name}{inner}"
