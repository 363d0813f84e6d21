# SPDX-License-Identifier: Apache-2.0
"""Operations that compute relu(a @ b + c): tile by tile, in blocks, and on several nodes."""

import ttl
import ttnn

TILE = ttl.TILE_SHAPE[0]


@ttl.operation(grid=(1, 1))
def single_tiles(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Adds products of tiles to a sum, which goes round in a buffer between the steps."""
    rows, steps, columns = a.shape[0] // TILE, a.shape[1] // TILE, b.shape[1] // TILE
    a_dfb, b_dfb, c_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, b, c))
    sum_dfb, y_dfb = (ttl.make_dataflow_buffer_like(y, shape=(1, 1)) for _ in range(2))

    @ttl.datamovement()
    def read():
        for row in range(rows):
            for column in range(columns):
                with c_dfb.reserve() as c_blk:
                    c_xf = ttl.copy(c[row, column], c_blk)
                    c_xf.wait()
                for step in range(steps):
                    with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                        a_xf = ttl.copy(a[row, step], a_blk)
                        b_xf = ttl.copy(b[step, column], b_blk)
                        a_xf.wait()
                        b_xf.wait()

    @ttl.compute()
    def multiply():
        for _ in range(rows):
            for _ in range(columns):
                with sum_dfb.reserve() as sum_blk:
                    sum_blk.store(ttl.block.fill(0, shape=sum_blk.shape))
                for _ in range(steps):
                    with (
                        a_dfb.wait() as a_blk,
                        b_dfb.wait() as b_blk,
                        sum_dfb.wait() as before_blk,
                        sum_dfb.reserve() as sum_blk,
                    ):
                        sum_blk.store(before_blk + a_blk @ b_blk)
                with c_dfb.wait() as c_blk, sum_dfb.wait() as sum_blk, y_dfb.reserve() as y_blk:
                    y_blk.store(ttl.math.relu(c_blk + sum_blk))

    @ttl.datamovement()
    def write():
        for row in range(rows):
            for column in range(columns):
                with y_dfb.wait() as y_blk:
                    y_xf = ttl.copy(y_blk, y[row, column])
                    y_xf.wait()


@ttl.operation(grid=(1, 1))
def blocks(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Multiplies blocks of 4x4 tiles."""
    size = 4
    rows, steps, columns = a.shape[0] // TILE // size, a.shape[1] // TILE // size, b.shape[1] // TILE // size
    a_dfb, b_dfb, c_dfb = (ttl.make_dataflow_buffer_like(each, shape=(size, size)) for each in (a, b, c))
    sum_dfb, y_dfb = (ttl.make_dataflow_buffer_like(y, shape=(size, size)) for _ in range(2))

    @ttl.datamovement()
    def read():
        for row in range(rows):
            top = row * size
            for column in range(columns):
                left = column * size
                with c_dfb.reserve() as c_blk:
                    c_xf = ttl.copy(c[top : top + size, left : left + size], c_blk)
                    c_xf.wait()
                for step in range(steps):
                    k = step * size
                    with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                        a_xf = ttl.copy(a[top : top + size, k : k + size], a_blk)
                        b_xf = ttl.copy(b[k : k + size, left : left + size], b_blk)
                        a_xf.wait()
                        b_xf.wait()

    @ttl.compute()
    def multiply():
        for _ in range(rows):
            for _ in range(columns):
                with sum_dfb.reserve() as sum_blk:
                    sum_blk.store(ttl.block.fill(0, shape=sum_blk.shape))
                for _ in range(steps):
                    with (
                        a_dfb.wait() as a_blk,
                        b_dfb.wait() as b_blk,
                        sum_dfb.wait() as before_blk,
                        sum_dfb.reserve() as sum_blk,
                    ):
                        sum_blk.store(before_blk + a_blk @ b_blk)
                with c_dfb.wait() as c_blk, sum_dfb.wait() as sum_blk, y_dfb.reserve() as y_blk:
                    y_blk.store(ttl.math.relu(c_blk + sum_blk))

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
    """Divides the blocks of the result among 2x2 nodes, which they divide evenly."""
    size = 2
    grid_columns, grid_rows = ttl.grid_size(dims=2)
    rows, columns = y.shape[0] // TILE // size // grid_rows, y.shape[1] // TILE // size // grid_columns
    steps = a.shape[1] // TILE // size
    a_dfb, b_dfb, c_dfb = (ttl.make_dataflow_buffer_like(each, shape=(size, size)) for each in (a, b, c))
    sum_dfb, y_dfb = (ttl.make_dataflow_buffer_like(y, shape=(size, size)) for _ in range(2))

    @ttl.datamovement()
    def read():
        node_column, node_row = ttl.node(dims=2)
        for row in range(rows):
            top = (node_row * rows + row) * size
            for column in range(columns):
                left = (node_column * columns + column) * size
                with c_dfb.reserve() as c_blk:
                    c_xf = ttl.copy(c[top : top + size, left : left + size], c_blk)
                    c_xf.wait()
                for step in range(steps):
                    k = step * size
                    with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                        a_xf = ttl.copy(a[top : top + size, k : k + size], a_blk)
                        b_xf = ttl.copy(b[k : k + size, left : left + size], b_blk)
                        a_xf.wait()
                        b_xf.wait()

    @ttl.compute()
    def multiply():
        for _ in range(rows * columns):
            with sum_dfb.reserve() as sum_blk:
                sum_blk.store(ttl.block.fill(0, shape=sum_blk.shape))
            for _ in range(steps):
                with (
                    a_dfb.wait() as a_blk,
                    b_dfb.wait() as b_blk,
                    sum_dfb.wait() as before_blk,
                    sum_dfb.reserve() as sum_blk,
                ):
                    sum_blk.store(before_blk + a_blk @ b_blk)
            with c_dfb.wait() as c_blk, sum_dfb.wait() as sum_blk, y_dfb.reserve() as y_blk:
                y_blk.store(ttl.math.relu(c_blk + sum_blk))

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


def on_all_nodes(activation):
    """Returns an operation that divides the blocks among all nodes; those at the edge may have fewer, or none."""

    @ttl.operation(grid="full")
    def all_nodes(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
        size = 2
        grid_columns, grid_rows = ttl.grid_size(dims=2)
        rows, columns, steps = a.shape[0] // TILE // size, b.shape[1] // TILE // size, a.shape[1] // TILE // size
        own_rows, own_columns = -(-rows // grid_rows), -(-columns // grid_columns)
        a_dfb, b_dfb, c_dfb = (ttl.make_dataflow_buffer_like(each, shape=(size, size)) for each in (a, b, c))
        sum_dfb, y_dfb = (ttl.make_dataflow_buffer_like(y, shape=(size, size)) for _ in range(2))

        @ttl.datamovement()
        def read():
            node_column, node_row = ttl.node(dims=2)
            for own_row in range(own_rows):
                row = node_row * own_rows + own_row
                if row < rows:
                    top = row * size
                    for own_column in range(own_columns):
                        column = node_column * own_columns + own_column
                        if column < columns:
                            left = column * size
                            with c_dfb.reserve() as c_blk:
                                c_xf = ttl.copy(c[top : top + size, left : left + size], c_blk)
                                c_xf.wait()
                            for step in range(steps):
                                k = step * size
                                with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                                    a_xf = ttl.copy(a[top : top + size, k : k + size], a_blk)
                                    b_xf = ttl.copy(b[k : k + size, left : left + size], b_blk)
                                    a_xf.wait()
                                    b_xf.wait()

        @ttl.compute()
        def multiply():
            node_column, node_row = ttl.node(dims=2)
            for own_row in range(own_rows):
                if node_row * own_rows + own_row < rows:
                    for own_column in range(own_columns):
                        if node_column * own_columns + own_column < columns:
                            with sum_dfb.reserve() as sum_blk:
                                sum_blk.store(ttl.block.fill(0, shape=sum_blk.shape))
                            for _ in range(steps):
                                with (
                                    a_dfb.wait() as a_blk,
                                    b_dfb.wait() as b_blk,
                                    sum_dfb.wait() as before_blk,
                                    sum_dfb.reserve() as sum_blk,
                                ):
                                    sum_blk.store(before_blk + a_blk @ b_blk)
                            with c_dfb.wait() as c_blk, sum_dfb.wait() as sum_blk, y_dfb.reserve() as y_blk:
                                if activation:
                                    y_blk.store(ttl.math.relu(c_blk + sum_blk))
                                else:
                                    y_blk.store(c_blk + sum_blk)

        @ttl.datamovement()
        def write():
            node_column, node_row = ttl.node(dims=2)
            for own_row in range(own_rows):
                row = node_row * own_rows + own_row
                if row < rows:
                    top = row * size
                    for own_column in range(own_columns):
                        column = node_column * own_columns + own_column
                        if column < columns:
                            left = column * size
                            with y_dfb.wait() as y_blk:
                                y_xf = ttl.copy(y_blk, y[top : top + size, left : left + size])
                                y_xf.wait()

    return all_nodes


all_nodes = on_all_nodes(activation=True)
all_nodes_linear = on_all_nodes(activation=False)
