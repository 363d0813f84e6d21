# SPDX-License-Identifier: Apache-2.0
"""Operations that compute a * b + c: tile by tile, in blocks of tiles, and on several nodes."""

import ttl
import ttnn

TILE = ttl.TILE_SHAPE[0]


@ttl.operation(grid=(1, 1))
def single_tiles(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Moves and computes one tile at a time."""
    rows, columns = y.shape[0] // TILE, y.shape[1] // TILE
    a_dfb, b_dfb, c_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, b, c, y))

    @ttl.compute()
    def multiply_add():
        for _ in range(rows * columns):
            with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, c_dfb.wait() as c_blk, y_dfb.reserve() as y_blk:
                y_blk.store(a_blk * b_blk + c_blk)

    @ttl.datamovement()
    def read():
        for row in range(rows):
            for column in range(columns):
                with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk, c_dfb.reserve() as c_blk:
                    a_xf = ttl.copy(a[row, column], a_blk)
                    b_xf = ttl.copy(b[row, column], b_blk)
                    c_xf = ttl.copy(c[row, column], c_blk)
                    a_xf.wait()
                    b_xf.wait()
                    c_xf.wait()

    @ttl.datamovement()
    def write():
        for row in range(rows):
            for column in range(columns):
                with y_dfb.wait() as y_blk:
                    y_xf = ttl.copy(y_blk, y[row, column])
                    y_xf.wait()


@ttl.operation(grid=(1, 1))
def blocks(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Moves and computes blocks of 4x4 tiles."""
    size = 4
    rows, columns = y.shape[0] // TILE // size, y.shape[1] // TILE // size
    a_dfb, b_dfb, c_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(size, size)) for each in (a, b, c, y))

    @ttl.compute()
    def multiply_add():
        for _ in range(rows * columns):
            with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, c_dfb.wait() as c_blk, y_dfb.reserve() as y_blk:
                y_blk.store(a_blk * b_blk + c_blk)

    @ttl.datamovement()
    def read():
        for row in range(rows):
            for column in range(columns):
                top, left = row * size, column * size
                with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk, c_dfb.reserve() as c_blk:
                    a_xf = ttl.copy(a[top : top + size, left : left + size], a_blk)
                    b_xf = ttl.copy(b[top : top + size, left : left + size], b_blk)
                    c_xf = ttl.copy(c[top : top + size, left : left + size], c_blk)
                    a_xf.wait()
                    b_xf.wait()
                    c_xf.wait()

    @ttl.datamovement()
    def write():
        for row in range(rows):
            for column in range(columns):
                top, left = row * size, column * size
                with y_dfb.wait() as y_blk:
                    y_xf = ttl.copy(y_blk, y[top : top + size, left : left + size])
                    y_xf.wait()


@ttl.operation(grid=(2, 2))
def four_nodes(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Divides the blocks among 2x2 nodes, which they divide evenly."""
    size = 2
    grid_columns, grid_rows = ttl.grid_size(dims=2)
    rows = y.shape[0] // TILE // size // grid_rows
    columns = y.shape[1] // TILE // size // grid_columns
    a_dfb, b_dfb, c_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(size, size)) for each in (a, b, c, y))

    @ttl.compute()
    def multiply_add():
        for _ in range(rows):
            for _ in range(columns):
                with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, c_dfb.wait() as c_blk, y_dfb.reserve() as y_blk:
                    y_blk.store(a_blk * b_blk + c_blk)

    @ttl.datamovement()
    def read():
        node_column, node_row = ttl.node(dims=2)
        for row in range(rows):
            top = (node_row * rows + row) * size
            for column in range(columns):
                left = (node_column * columns + column) * size
                with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk, c_dfb.reserve() as c_blk:
                    a_xf = ttl.copy(a[top : top + size, left : left + size], a_blk)
                    b_xf = ttl.copy(b[top : top + size, left : left + size], b_blk)
                    c_xf = ttl.copy(c[top : top + size, left : left + size], c_blk)
                    a_xf.wait()
                    b_xf.wait()
                    c_xf.wait()

    @ttl.datamovement()
    def write():
        node_column, node_row = ttl.node(dims=2)
        for row in range(rows):
            top = (node_row * rows + row) * size
            for column in range(columns):
                left = (node_column * columns + column) * size
                with y_dfb.wait() as y_blk:
                    y_xf = ttl.copy(y_blk, y[top : top + size, left : left + size])
                    y_xf.wait()


@ttl.operation(grid="full")
def all_nodes(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Divides the blocks among all nodes; those at the edge may have fewer, or none."""
    size = 2
    grid_columns, grid_rows = ttl.grid_size(dims=2)
    rows, columns = y.shape[0] // TILE // size, y.shape[1] // TILE // size
    own_rows, own_columns = -(-rows // grid_rows), -(-columns // grid_columns)
    a_dfb, b_dfb, c_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(size, size)) for each in (a, b, c, y))

    @ttl.compute()
    def multiply_add():
        node_column, node_row = ttl.node(dims=2)
        for own_row in range(own_rows):
            if node_row * own_rows + own_row < rows:
                for own_column in range(own_columns):
                    if node_column * own_columns + own_column < columns:
                        with (
                            a_dfb.wait() as a_blk,
                            b_dfb.wait() as b_blk,
                            c_dfb.wait() as c_blk,
                            y_dfb.reserve() as y_blk,
                        ):
                            y_blk.store(a_blk * b_blk + c_blk)

    @ttl.datamovement()
    def read():
        node_column, node_row = ttl.node(dims=2)
        for own_row in range(own_rows):
            row = node_row * own_rows + own_row
            if row < rows:
                for own_column in range(own_columns):
                    column = node_column * own_columns + own_column
                    if column < columns:
                        top, left = row * size, column * size
                        with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk, c_dfb.reserve() as c_blk:
                            a_xf = ttl.copy(a[top : top + size, left : left + size], a_blk)
                            b_xf = ttl.copy(b[top : top + size, left : left + size], b_blk)
                            c_xf = ttl.copy(c[top : top + size, left : left + size], c_blk)
                            a_xf.wait()
                            b_xf.wait()
                            c_xf.wait()

    @ttl.datamovement()
    def write():
        node_column, node_row = ttl.node(dims=2)
        for own_row in range(own_rows):
            row = node_row * own_rows + own_row
            if row < rows:
                for own_column in range(own_columns):
                    column = node_column * own_columns + own_column
                    if column < columns:
                        top, left = row * size, column * size
                        with y_dfb.wait() as y_blk:
                            y_xf = ttl.copy(y_blk, y[top : top + size, left : left + size])
                            y_xf.wait()
