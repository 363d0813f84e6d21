# SPDX-License-Identifier: Apache-2.0
"""Operations that compute a * b + c of a column a, a row b and one element c, which they spread over blocks."""

import ttl
import ttnn

TILE = ttl.TILE_SHAPE[0]


@ttl.operation(grid=(1, 1))
def single_tiles(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Computes one tile at a time: of a the first column counts, of b the first row, of c the first element."""
    rows, columns = y.shape[0] // TILE, y.shape[1] // TILE
    a_dfb, b_dfb, c_dfb, y_dfb = (ttl.make_dataflow_buffer_like(each, shape=(1, 1)) for each in (a, b, c, y))

    @ttl.compute()
    def multiply_add():
        with c_dfb.wait() as c_blk:
            for _ in range(rows):
                for _ in range(columns):
                    with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, y_dfb.reserve() as y_blk:
                        a_all = ttl.block.broadcast(a_blk, dims=[-1], shape=(1, 1))
                        b_all = ttl.block.broadcast(b_blk, dims=[0], shape=(1, 1))
                        c_all = ttl.block.broadcast(c_blk, dims=[0, 1], shape=(1, 1))
                        y_blk.store(a_all * b_all + c_all)

    @ttl.datamovement()
    def read():
        with c_dfb.reserve() as c_blk:
            c_xf = ttl.copy(c[0, 0], c_blk)
            c_xf.wait()
        for row in range(rows):
            for column in range(columns):
                with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                    a_xf = ttl.copy(a[row, 0], a_blk)
                    b_xf = ttl.copy(b[0, column], b_blk)
                    a_xf.wait()
                    b_xf.wait()

    @ttl.datamovement()
    def write():
        for row in range(rows):
            for column in range(columns):
                with y_dfb.wait() as y_blk:
                    y_xf = ttl.copy(y_blk, y[row, column])
                    y_xf.wait()


@ttl.operation(grid=(1, 1))
def blocks(a: ttnn.Tensor, b: ttnn.Tensor, c: ttnn.Tensor, y: ttnn.Tensor) -> None:
    """Spreads a column of 4 tiles and a row of 4 tiles over blocks of 4x4."""
    size = 4
    rows, columns = y.shape[0] // TILE // size, y.shape[1] // TILE // size
    a_dfb = ttl.make_dataflow_buffer_like(a, shape=(size, 1), block_count=2)
    b_dfb = ttl.make_dataflow_buffer_like(b, shape=(1, size), block_count=2)
    c_dfb = ttl.make_dataflow_buffer_like(c, shape=(1, 1), block_count=2)
    y_dfb = ttl.make_dataflow_buffer_like(y, shape=(size, size), block_count=2)

    @ttl.compute()
    def multiply_add():
        with c_dfb.wait() as c_blk:
            for _ in range(rows):
                for _ in range(columns):
                    with a_dfb.wait() as a_blk, b_dfb.wait() as b_blk, y_dfb.reserve() as y_blk:
                        a_all = ttl.block.broadcast(a_blk, dims=[-1], shape=y_blk.shape)
                        b_all = ttl.block.broadcast(b_blk, dims=[0], shape=y_blk.shape)
                        c_all = ttl.block.broadcast(c_blk, dims=[-2, -1], shape=y_blk.shape)
                        y_blk.store(a_all * b_all + c_all)

    @ttl.datamovement()
    def read():
        with c_dfb.reserve() as c_blk:
            c_xf = ttl.copy(c[0, 0], c_blk)
            c_xf.wait()
        for row in range(rows):
            for column in range(columns):
                with a_dfb.reserve() as a_blk, b_dfb.reserve() as b_blk:
                    a_xf = ttl.copy(a[row * size : (row + 1) * size, 0], a_blk)
                    b_xf = ttl.copy(b[0, column * size : (column + 1) * size], b_blk)
                    a_xf.wait()
                    b_xf.wait()

    @ttl.datamovement()
    def write():
        for row in range(rows):
            for column in range(columns):
                top, left = row * size, column * size
                with y_dfb.wait() as y_blk:
                    y_xf = ttl.copy(y_blk, y[top : top + size, left : left + size])
                    y_xf.wait()
