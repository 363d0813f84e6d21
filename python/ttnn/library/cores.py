# SPDX-License-Identifier: Apache-2.0
"""Makes sets of cores, divides work among them, makes memory configs of sharded tensors.

Cores are numbered row by row with `row_wise`, else column by column, as in the library.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from numbers import Integral
from typing import Any

from _ttmlir_runtime.runtime import Tensor
from _ttmlir_runtime.ttnn import (
    BufferType,
    CoreCoord,
    CoreGrid,
    CoreRange,
    CoreRangeSet,
    MemoryConfig,
    ShardOrientation,
    ShardSpec,
    TensorMemoryLayout,
)

from .modes import ShardStrategy
from .prepared import demands

_LAYOUTS = {
    ShardStrategy.HEIGHT: TensorMemoryLayout.HEIGHT_SHARDED,
    ShardStrategy.WIDTH: TensorMemoryLayout.WIDTH_SHARDED,
    ShardStrategy.BLOCK: TensorMemoryLayout.BLOCK_SHARDED,
}


def _range_cores(cores: CoreRange, row_wise: bool) -> list[CoreCoord]:
    columns, rows = range(cores.start.x, cores.end.x + 1), range(cores.start.y, cores.end.y + 1)
    if row_wise:
        return [CoreCoord(x, y) for y in rows for x in columns]
    return [CoreCoord(x, y) for x in columns for y in rows]


def corerange_to_cores(
    core_range_set: CoreRangeSet, max_cores: int | None = None, row_wise: bool = False
) -> list[CoreCoord]:
    """Returns the cores of a set, range by range; the first `max_cores` of them where that is given."""
    cores = [core for each in core_range_set.ranges() for core in _range_cores(each, row_wise)]
    return cores if max_cores is None else cores[:max_cores]


@demands("num_cores", "grid_size_x", "grid_size_y")
def grid_to_cores(
    num_cores: Any = None,
    grid_size_x: Any = None,
    grid_size_y: Any = None,
    row_wise: bool = False,
    *,
    start: CoreCoord | None = None,
    end: CoreCoord | None = None,
) -> list[CoreCoord]:
    """Returns the cores of a grid: `grid_to_cores(num_cores, grid_size_x, grid_size_y, row_wise=False)` or
    `grid_to_cores(start, end, row_wise=False)`.

    Raises:
        TypeError: the arguments are of neither form.
        ValueError: the grid has fewer than `num_cores` cores.
    """
    if isinstance(num_cores, CoreCoord) and start is None:
        start, num_cores = num_cores, None
    if isinstance(grid_size_x, CoreCoord) and end is None:
        end, grid_size_x = grid_size_x, None
    if isinstance(grid_size_y, bool):
        row_wise, grid_size_y = grid_size_y, None
    size = (num_cores, grid_size_x, grid_size_y)
    if isinstance(start, CoreCoord) and isinstance(end, CoreCoord) and size == (None, None, None):
        return _range_cores(CoreRange(start, end), row_wise)
    if start is None and end is None and all(type(each) is int for each in size):
        cores = _range_cores(_whole(grid_size_x, grid_size_y), row_wise)
        if num_cores > len(cores):
            raise ValueError(
                f"ttnn.grid_to_cores: num_cores is {num_cores}; a grid of {grid_size_x}x{grid_size_y} has {len(cores)}"
            )
        return cores[:num_cores]
    raise TypeError("ttnn.grid_to_cores: expected (num_cores, grid_size_x, grid_size_y) or (start, end)")


def _whole(width: int, height: int) -> CoreRange:
    return CoreRange(CoreCoord(0, 0), CoreCoord(width - 1, height - 1))


def num_cores_to_corerangeset(target_num_cores: int, grid_size: CoreCoord, row_wise: bool = False) -> CoreRangeSet:
    """Returns the first cores of a grid in as few ranges as possible: whole lines, and the rest of one.

    Raises:
        ValueError: the grid has fewer cores, or the number is not positive.
    """
    return num_cores_to_corerangeset_in_subcoregrids(
        CoreCoord(0, 0), target_num_cores, CoreRangeSet([_whole(grid_size.x, grid_size.y)]), row_wise
    )


def num_cores_to_corerangeset_in_subcoregrids(
    start_core: CoreCoord, target_num_cores: int, sub_core_grids: CoreRangeSet, row_wise: bool = False
) -> CoreRangeSet:
    """Returns the cores of a set from one of its cores on.

    Raises:
        ValueError: the set has not as many cores from there on, or `start_core` is none of them.
    """
    cores = corerange_to_cores(sub_core_grids, None, row_wise)
    places = [(core.x, core.y) for core in cores]
    if (start_core.x, start_core.y) not in places:
        raise ValueError(f"ttnn: start core ({start_core.x}, {start_core.y}) is not in {sub_core_grids}")
    first = places.index((start_core.x, start_core.y))
    chosen = places[first : first + target_num_cores]
    if target_num_cores < 1 or len(chosen) < target_num_cores:
        raise ValueError(f"ttnn: {target_num_cores} cores requested; expected 1 to {len(places) - first}")
    return CoreRangeSet(_merged(chosen, row_wise))


def _merged(places: Sequence[tuple[int, int]], row_wise: bool) -> list[CoreRange]:
    """Returns ranges of cores that are in order: runs along a line, and equal runs of lines side by side as one."""
    along, across = (0, 1) if row_wise else (1, 0)
    runs: list[list[int]] = []  # line, first, last
    for place in places:
        if runs and runs[-1][0] == place[across] and runs[-1][2] + 1 == place[along]:
            runs[-1][2] = place[along]
        else:
            runs.append([place[across], place[along], place[along]])
    boxes: list[list[int]] = []  # first line, last line, first, last
    for line, first, last in runs:
        if boxes and boxes[-1][1] + 1 == line and boxes[-1][2:] == [first, last]:
            boxes[-1][1] = line
        else:
            boxes.append([line, line, first, last])
    corner = (lambda line, at: CoreCoord(at, line)) if row_wise else (lambda line, at: CoreCoord(line, at))
    return [CoreRange(corner(a, first), corner(b, last)) for a, b, first, last in boxes]


@demands("grid_size", "units_to_divide")
def split_work_to_cores(
    grid_size: CoreCoord | CoreRangeSet | None = None,
    units_to_divide: int | None = None,
    row_wise: bool = False,
    *,
    core_grid: CoreRangeSet | None = None,
) -> tuple[int, CoreRangeSet, CoreRangeSet, CoreRangeSet, int, int]:
    """Divides work among cores as evenly as it can.

    Returns:
        The number of cores, all of them, those that have one unit more, the others, and the units of each of both.
    Raises:
        TypeError: the cores or the work are left out. `core_grid` is another name of `grid_size`.
    """
    grid_size = core_grid if grid_size is None else grid_size
    if not isinstance(grid_size, CoreCoord | CoreRangeSet) or type(units_to_divide) is not int:
        raise TypeError(
            f"ttnn.split_work_to_cores: cores are {grid_size!r} and units {units_to_divide!r}; expected a CoreCoord or "
            "a CoreRangeSet, and a number"
        )
    cores = CoreRangeSet([_whole(grid_size.x, grid_size.y)]) if isinstance(grid_size, CoreCoord) else grid_size
    places = [(core.x, core.y) for core in corerange_to_cores(cores, None, row_wise)]
    count = min(len(places), units_to_divide)
    if count == 0:
        return 0, CoreRangeSet([]), CoreRangeSet([]), CoreRangeSet([]), 0, 0
    each, more = divmod(units_to_divide, count)
    parts = [CoreRangeSet(_merged(part, row_wise)) for part in (places[:count], places[:more], places[more:count])]
    if more == 0:  # all have as many: they are the first group
        return count, parts[0], parts[0], CoreRangeSet([]), each, 0
    return count, parts[0], parts[1], parts[2], each + 1, each


def create_sharded_memory_config(
    shape: Sequence[int],
    core_grid: CoreGrid | CoreRangeSet,
    strategy: ShardStrategy,
    orientation: ShardOrientation | None = None,
    use_height_and_width_as_shard_shape: bool = False,
    *,
    tile_layout: bool = False,
) -> MemoryConfig:
    """Returns the memory config of a tensor that is sharded over the L1 memories of cores.

    Args:
        shape: of the tensor, or of a shard where `use_height_and_width_as_shard_shape` says so; the last two count.
        core_grid: the cores. BLOCK cuts rows along the height of the grid and columns along its width.
        strategy: HEIGHT, WIDTH or BLOCK.
        orientation: order of shards over cores; ROW_MAJOR by default.
        tile_layout: rounds shards up to whole tiles, where the tensor need not divide by the cores.

    Raises:
        TypeError: an argument is of another type.
        ValueError: the tensor does not divide by the cores, or BLOCK is requested on cores that are no rectangle.
    """
    if not isinstance(strategy, ShardStrategy):
        raise TypeError(f"ttnn.create_sharded_memory_config: strategy is {strategy!r}; expected a ttnn.ShardStrategy")
    if not isinstance(core_grid, CoreGrid | CoreRangeSet):
        raise TypeError(
            f"ttnn.create_sharded_memory_config: core_grid is {core_grid!r}; expected a CoreGrid or a CoreRangeSet"
        )
    if isinstance(shape, str) or not (sizes := list(shape)) or not all(isinstance(size, Integral) for size in sizes):
        raise TypeError(f"ttnn.create_sharded_memory_config: shape is {shape!r}; expected at least one integer")
    orientation = ShardOrientation.ROW_MAJOR if orientation is None else orientation
    cores = CoreRangeSet([_whole(core_grid.x, core_grid.y)]) if isinstance(core_grid, CoreGrid) else core_grid
    height, width = math.prod(shape[:-1]), shape[-1]
    if use_height_and_width_as_shard_shape:
        shard = [shape[-2], width] if len(shape) > 1 else [1, width]
    else:
        rows, columns = _division(strategy, cores, orientation)
        if tile_layout:
            height, width = (
                -(-size // (32 * parts)) * 32 * parts for size, parts in ((height, rows), (width, columns))
            )
        if height % rows or width % columns:
            raise ValueError(
                f"ttnn.create_sharded_memory_config: {height}x{width} elements do not divide by {rows}x{columns} cores"
            )
        shard = [height // rows, width // columns]
    return MemoryConfig(_LAYOUTS[strategy], BufferType.L1, ShardSpec(cores, shard, orientation))


def create_sharded_memory_config_(
    shape: Sequence[int],
    core_grid: CoreGrid | CoreRangeSet,
    strategy: ShardStrategy | TensorMemoryLayout,
    orientation: ShardOrientation,
    use_height_and_width_as_shard_shape: bool = False,
    tile_layout: bool = False,
) -> MemoryConfig:
    """Returns what create_sharded_memory_config does, for a layout as well as a strategy.

    Raises:
        TypeError, ValueError: as create_sharded_memory_config.
    """
    chosen: Any = next((each for each, layout in _LAYOUTS.items() if layout == strategy), strategy)
    return create_sharded_memory_config(
        shape, core_grid, chosen, orientation, use_height_and_width_as_shard_shape, tile_layout=tile_layout
    )


def _division(strategy: ShardStrategy, cores: CoreRangeSet, orientation: ShardOrientation) -> tuple[int, int]:
    """Returns into how many parts the height and the width are cut."""
    count = cores.num_cores()
    if strategy == ShardStrategy.HEIGHT:
        return count, 1
    if strategy == ShardStrategy.WIDTH:
        return 1, count
    ranges = cores.ranges()
    if len(ranges) != 1:
        raise ValueError(
            f"ttnn.create_sharded_memory_config: BLOCK needs a rectangle of cores, not {len(ranges)} ranges"
        )
    size = grid_size(ranges[0])
    return (size.y, size.x) if orientation == ShardOrientation.ROW_MAJOR else (size.x, size.y)


def is_sharded(tensor: Tensor) -> bool:
    """Tells whether a tensor is sharded over cores or banks."""
    return tensor.is_sharded()


def get_memory_config(tensor: Tensor) -> MemoryConfig | None:
    """Returns the memory of a tensor and how it is spread there."""
    return tensor.memory_config()


# Methods of the classes of cores, which the extension makes.


def grid_size(self: CoreRange) -> CoreCoord:
    """Returns the width and the height, in cores."""
    return CoreCoord(self.end.x - self.start.x + 1, self.end.y - self.start.y + 1)


def _places(cores: Any) -> set[tuple[int, int]]:
    if isinstance(cores, CoreCoord):
        return {(cores.x, cores.y)}
    ranges: Iterable[CoreRange] = [cores] if isinstance(cores, CoreRange) else cores.ranges()
    return {(core.x, core.y) for each in ranges for core in _range_cores(each, True)}


def _contains(self: CoreRange | CoreRangeSet, core: CoreCoord | CoreRange | CoreRangeSet) -> bool:
    """Tells whether all of the other cores are among these."""
    return _places(core) <= _places(self)


def _bounding_box(self: CoreRangeSet) -> CoreRange:
    """Returns the smallest range that has all cores.

    Raises:
        ValueError: the set is empty.
    """
    places = _places(self)
    if not places:
        raise ValueError("ttnn.CoreRangeSet.bounding_box: the set is empty")
    columns, rows = {x for x, _ in places}, {y for _, y in places}
    return CoreRange(CoreCoord(min(columns), min(rows)), CoreCoord(max(columns), max(rows)))


def _of_places(places: Iterable[tuple[int, int]]) -> CoreRangeSet:
    return CoreRangeSet(_merged(sorted(places, key=lambda place: (place[1], place[0])), True))


def _merge(self: CoreRangeSet, other: CoreRangeSet) -> CoreRangeSet:
    """Returns the cores of both."""
    return _of_places(_places(self) | _places(other))


def _subtract(self: CoreRangeSet, other: CoreRangeSet) -> CoreRangeSet:
    """Returns the cores that the other set does not have."""
    return _of_places(_places(self) - _places(other))


for _class, _methods in (
    (CoreRange, {"grid_size": grid_size, "contains": _contains}),
    (
        CoreRangeSet,
        {
            "contains": _contains,
            "bounding_box": _bounding_box,
            "merge": _merge,
            "subtract": _subtract,
            "empty": lambda self: self.num_cores() == 0,
            "size": lambda self: len(self.ranges()),
        },
    ),
):
    for _name, _method in _methods.items():
        setattr(_class, _name, _method)
