# SPDX-License-Identifier: Apache-2.0
"""Programs of shard_map, and of functions that say how they are split, on meshes of two axes, `x` and `y`."""

MANUAL = {
    "manual along one axis": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        f = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})
        close(jax.jit(f)(v), v.reshape(SIZES[0], -1, 16).sum(0))
        x = jax.device_put(v, NamedSharding(mesh, P("x", "y")))
        close(jax.jit(f)(x), v.reshape(SIZES[0], -1, 16).sum(0))
        """,
    "manual along one explicit axis": """
        mesh = mesh_of(Explicit)
        with jax.set_mesh(mesh):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))

            def f(x):
                assert jax.typeof(x).sharding.spec == P(None, "y"), jax.typeof(x)
                return jnp.tanh(x) * lax.axis_index("x")

            y = jax.jit(jax.shard_map(f, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}))(x)
            assert jax.typeof(y).sharding.spec == P("x", "y")
            close(y, np.tanh(v) * np.repeat(np.arange(SIZES[0]), 8 // SIZES[0])[:, None])
        """,
    "products inside of a partly manual region": """
        mesh = mesh_of(Auto)
        a, b = normal(8, 16), normal(16, 8)

        def f(x, w):
            return lax.psum(jnp.tanh(x @ w), "x")

        f = jax.shard_map(f, mesh=mesh, in_specs=(P("x", None), P()), out_specs=P(), axis_names={"x"})
        x = jax.device_put(a, NamedSharding(mesh, P("x", None)))
        w = jax.device_put(b, NamedSharding(mesh, P(None, "y")))
        close(jax.jit(f)(x, w), np.tanh(a @ b).reshape(SIZES[0], -1, 8).sum(0))
        """,
    "a constraint inside of a partly manual region": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)

        def f(x):
            y = lax.with_sharding_constraint(x * 2, NamedSharding(jax.sharding.get_abstract_mesh(), P(None, "y")))
            return lax.ppermute(y, "x", [(i, (i + 1) % SIZES[0]) for i in range(SIZES[0])])

        with jax.set_mesh(mesh):
            y = jax.jit(jax.shard_map(f, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}))(v)
        close(y, np.roll(2 * v, 8 // SIZES[0], 0))
        """,
    "one region in another": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        with jax.set_mesh(mesh):
            @functools.partial(jax.shard_map, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
            def outer(x):
                @functools.partial(jax.shard_map, in_specs=P(None, "y"), out_specs=P(None, "y"), axis_names={"y"})
                def inner(x):
                    return x * 10 + lax.axis_index("y")
                return inner(x) + lax.axis_index("x") * 100
            y = jax.jit(outer)(v)
        rows = np.repeat(np.arange(SIZES[0]), 8 // SIZES[0])[:, None] * 100
        close(y, v * 10 + rows + np.repeat(np.arange(SIZES[1]), 16 // SIZES[1]))
        """,
    "gradient of a partly manual region": """
        mesh = mesh_of(Auto)
        a, b = normal(8, 16), normal(16, 8)
        f = jax.shard_map(lambda x, w: lax.pmean(jnp.sum((x @ w) ** 2), "x"), mesh=mesh,
                          in_specs=(P("x", None), P()), out_specs=P(), axis_names={"x"})
        g = jax.jit(jax.grad(lambda w, x: f(x, w)))(b, a)
        close(g, 2 * a.T @ (a @ b) / SIZES[0])
        """,
    "a scan inside of a partly manual region": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)

        def f(x):
            return lax.scan(lambda c, _: (c + lax.psum(c, "x") * 0.1, None), x, None, length=3)[0]

        f = jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"}, check_vma=False)
        y = jax.jit(f)(v)
        want = v.reshape(SIZES[0], -1, 16)
        for _ in range(3):
            want = want + want.sum(0) * np.float32(0.1)
        close(y, want.reshape(8, 16))
        """,
    "all_gather, all_to_all and psum_scatter along one axis": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        x = jax.device_put(v, NamedSharding(mesh, P("y", "x")))
        part = functools.partial(jax.shard_map, mesh=mesh, axis_names={"y"})
        g = part(lambda x: lax.all_gather(x, "y", tiled=True), in_specs=P("y"), out_specs=P(), check_vma=False)
        same(jax.jit(g)(x), v)
        t = part(lambda x: lax.all_to_all(x, "y", 1, 0, tiled=True), in_specs=P("y"), out_specs=P(None, "y"))
        same(jax.jit(t)(x), v)
        s = part(lambda x: lax.psum_scatter(x, "y", tiled=True), in_specs=P(), out_specs=P("y"), check_vma=False)
        close(jax.jit(s)(x), v * SIZES[1])
        """,
    "a pipeline along x of layers that are split along y": """
        mesh = mesh_of(Auto)
        w, v = normal(SIZES[0], 8, 8) / 3, normal(4, 8)
        w = jax.device_put(w, NamedSharding(mesh, P("x", None, "y")))

        def f(w, x):
            for i in range(SIZES[0]):
                y = jnp.tanh(x @ w[0])
                x = lax.psum(jnp.where(lax.axis_index("x") == i, y, 0), "x")
            return x

        y = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=(P("x"), P()), out_specs=P(), axis_names={"x"}))(w, v)
        want = v
        for layer in np.asarray(w):
            want = np.tanh(want @ layer)
        close(y, want)
        """,
    "what varies, checked": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)

        def f(x):
            assert jax.typeof(x).manual_axis_type.varying == {"x", "y"}
            s = lax.psum(x, "x")
            assert jax.typeof(s).manual_axis_type.varying == {"y"}
            return s + lax.pcast(jnp.ones(s.shape), "y", to="varying")

        close(jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y")))(v),
              v.reshape(SIZES[0], -1, 16).sum(0) + 1)
        """,
    "linear algebra, whose variance is checked": """
        mesh = mesh_of(Auto)
        a, b = normal(8, 4, 4) + 4 * np.eye(4, dtype=np.float32), normal(8, 4, 2)
        f = jax.shard_map(jnp.linalg.solve, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=True)
        close(jax.jit(f)(a, b), np.linalg.solve(a, b), 1e-4)
        g = jax.shard_map(jnp.linalg.inv, mesh=mesh, in_specs=P(("x", "y")), out_specs=P(("x", "y")), check_vma=True)
        close(jax.jit(g)(a), np.linalg.inv(a), 1e-4)
        h = jax.shard_map(lambda a: jnp.linalg.slogdet(a)[1], mesh=mesh, in_specs=P("y"), out_specs=P("y"))
        close(jax.jit(h)(a), np.linalg.slogdet(a)[1], 1e-4)
        """,
    "a solve along one manual axis": """
        mesh = mesh_of(Auto)
        a, b = normal(8, 4, 4) + 4 * np.eye(4, dtype=np.float32), normal(8, 4, 2)
        f = jax.shard_map(jnp.linalg.solve, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names={"x"})
        close(jax.jit(f)(a, b), np.linalg.solve(a, b), 1e-4)
        """,
    "a region without a mesh of its own": """
        with jax.set_mesh(mesh_of(Auto)):
            v = normal(8, 16)
            f = jax.shard_map(lambda x: lax.pmax(x, "y"), in_specs=P("x", "y"), out_specs=P("x"))
            same(jax.jit(f)(v), v.reshape(8, SIZES[1], -1).max(1))
        """,
    "a decorated function with smap": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            f = jax.smap(lambda x: x + lax.axis_index("x"), in_axes=0, out_axes=0, axis_name="x")
            close(jax.jit(f)(x), v + np.repeat(np.arange(SIZES[0]), 8 // SIZES[0])[:, None])
        """,
    "rows of unequal sizes to all": """
        mesh = jax.make_mesh((COUNT,), ("a",), axis_types=(Auto,))
        n = COUNT
        v = np.arange(n * n * 2, dtype=np.float32)  # device i: n * 2 values
        sizes = np.array([[(i + j) % 3 for j in range(n)] for i in range(n)], np.int32)
        starts = (np.cumsum(sizes, 1) - sizes).astype(np.int32)
        places = (np.cumsum(sizes, 0) - sizes).astype(np.int32)

        def f(x, start, size, place, taken):
            out = jnp.full(n * 3, -1.0)
            out = lax.pcast(out, "a", to="varying")
            return lax.ragged_all_to_all(x, out, start[0], size[0], place[0], taken[0], axis_name="a")

        f = jax.shard_map(f, mesh=mesh, in_specs=P("a"), out_specs=P("a"))
        got = np.asarray(jax.jit(f)(v, starts, sizes, places, sizes.T.copy())).reshape(n, n * 3)
        want = np.full((n, n * 3), -1, np.float32)
        for i in range(n):
            for j in range(n):
                part = v.reshape(n, n * 2)[i, starts[i, j] : starts[i, j] + sizes[i, j]]
                want[j, places[i, j] : places[i, j] + sizes[i, j]] = part
        same(got, want)
        """,
    "rows of vectors of unequal sizes to all": """
        mesh = jax.make_mesh((COUNT,), ("a",), axis_types=(Auto,))
        n = COUNT
        v = normal(n * n, 4)
        ones = np.ones((n, n), np.int32)
        starts = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n)).copy()

        def f(x, start, size, place, taken):
            out = jnp.zeros_like(x)
            return lax.ragged_all_to_all(x, out, start[0], size[0], place[0], taken[0], axis_name="a")

        f = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("a"), out_specs=P("a")))
        same(f(v, starts, ones, starts.T.copy(), ones), v.reshape(n, n, 4).swapaxes(0, 1).reshape(v.shape))
        """,
    "experts that take unequal numbers of tokens": """
        mesh = mesh_of(Auto)
        n = SIZES[1]
        v = normal(n * 4, 8)
        take = (2 * np.eye(n) + np.roll(np.eye(n), 1, 1) * (n > 1)).astype(np.int32)
        start = (np.cumsum(take, 1) - take).astype(np.int32)
        place = (np.cumsum(take, 0) - take).astype(np.int32)

        def f(x, start, take, place, taken):
            out = lax.ragged_all_to_all(
                x, x * 0, start[0], take[0], place[0], taken[0], axis_name="y")
            return out * 2

        specs = P("y")
        got = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=specs, check_vma=False))(
            v, start, take, place, take.T.copy())
        want = np.zeros((n, 4, 8), np.float32)
        for i in range(n):
            for j in range(n):
                part = v.reshape(n, 4, 8)[i, start[i, j] : start[i, j] + take[i, j]]
                want[j, place[i, j] : place[i, j] + take[i, j]] = part
        close(got, 2 * want.reshape(v.shape))
        """,
    "a gradient through unequal rows": """
        mesh = jax.make_mesh((COUNT,), ("a",), axis_types=(Auto,))
        n = COUNT
        v = normal(n * n)
        ones = np.ones((n, n), np.int32)
        starts = np.broadcast_to(np.arange(n, dtype=np.int32), (n, n)).copy()

        def f(x, start, size, place, taken):
            return lax.ragged_all_to_all(x, x * 0, start[0], size[0], place[0], taken[0], axis_name="a")

        f = jax.shard_map(f, mesh=mesh, in_specs=P("a"), out_specs=P("a"), check_vma=False)
        weights = np.arange(n * n, dtype=np.float32)
        g = jax.jit(jax.grad(lambda v: (f(v, starts, ones, starts.T.copy(), ones) * weights).sum()))(v)
        close(g, weights.reshape(n, n).T.ravel())
        """,
    "axis_size, pvary and pbroadcast": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        f = lambda x: x * lax.axis_size("x") + lax.axis_size(("x", "y"))
        f = jax.shard_map(f, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
        close(jax.jit(f)(v), v * SIZES[0] + COUNT)
        """,
    "a map over chips by pmap": """
        v = normal(COUNT, 8)
        y = jax.pmap(lambda x: x / lax.psum(x, "i"), axis_name="i")(v)
        close(y, v / v.sum(0))
        """,
}

ALIKE = {
    "two values split alike": """
        from jax.experimental.shard_alike import shard_alike
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        x = jax.device_put(v, NamedSharding(mesh, P("x", "y")))

        @jax.jit
        def f(x):
            y = jnp.ones((8, 16))
            x, y = shard_alike(x, y)
            return x * 2, y

        a, b = f(x)
        close(a, v * 2)
        same(b, np.ones((8, 16)))
        assert a.sharding.is_equivalent_to(x.sharding, 2)
        assert b.sharding.is_equivalent_to(x.sharding, 2), b.sharding
        """,
    "trees of values split alike": """
        from jax.experimental.shard_alike import shard_alike
        mesh = mesh_of(Auto)
        x = {"w": jax.device_put(normal(8, 16), NamedSharding(mesh, P("x"))), "b": normal(8)}

        @jax.jit
        def start(x):
            zeros = jax.tree.map(jnp.zeros_like, x)
            return shard_alike(x, zeros)[1]

        m = start(x)
        assert m["w"].sharding.is_equivalent_to(x["w"].sharding, 2), m["w"].sharding
        same(m["b"], np.zeros(8))
        """,
    "values split alike in a scan": """
        from jax.experimental.shard_alike import shard_alike
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        x = jax.device_put(v, NamedSharding(mesh, P("x", "y")))

        @jax.jit
        def f(x):
            def body(c, _):
                c, x1 = shard_alike(c, x)
                return c + x1, None
            return lax.scan(body, jnp.zeros((8, 16)), None, length=3)[0]

        close(f(x), 3 * v)
        """,
    "the sharding of a value, looked at": """
        mesh = mesh_of(Auto)
        x = jax.device_put(normal(8, 16), NamedSharding(mesh, P("x", "y")))
        seen = []

        @jax.jit
        def f(x):
            y = jnp.tanh(x)
            jax.debug.inspect_array_sharding(y, callback=seen.append)
            return y * 2

        f(x)
        assert len(seen) == 1 and seen[0].is_equivalent_to(x.sharding, 2), seen
        """,
    "the sharding of a product, looked at": """
        mesh = mesh_of(Auto)
        x = jax.device_put(normal(8, 16), NamedSharding(mesh, P("x", None)))
        w = jax.device_put(normal(16, 8), NamedSharding(mesh, P(None, "y")))
        seen = []

        @jax.jit
        def f(x, w):
            y = x @ w
            jax.debug.inspect_array_sharding(y, callback=seen.append)
            return y.sum()

        f(x, w)
        assert len(seen) == 1 and seen[0].shard_shape((8, 8)) == (8 // SIZES[0], 8 // SIZES[1]), seen
        """,
    "the sharding of an array, looked at without jit": """
        x = jax.device_put(normal(8, 16), NamedSharding(mesh_of(Auto), P("x")))
        seen = []
        jax.debug.inspect_array_sharding(x, callback=seen.append)
        assert seen[0].is_equivalent_to(x.sharding, 2)
        jax.debug.visualize_array_sharding(x)
        """,
    "a function that says how it is split": """
        from jax.experimental.custom_partitioning import custom_partitioning

        @custom_partitioning
        def twice(x):
            return x * 2

        twice.def_partition(
            infer_sharding_from_operands=lambda mesh, arguments, result: arguments[0].sharding,
            partition=lambda mesh, arguments, result: (
                mesh, lambda x: x * 2, arguments[0].sharding, (arguments[0].sharding,)),
            sharding_rule="i j -> i j")
        v = normal(8, 16)
        x = jax.device_put(v, NamedSharding(mesh_of(Auto), P("x", "y")))
        y = jax.jit(lambda x: twice(x) + 1)(x)
        close(y, v * 2 + 1)
        assert y.sharding.shard_shape(y.shape) == (8 // SIZES[0], 16 // SIZES[1])
        """,
    "a function that computes along whole rows": """
        from jax.experimental.custom_partitioning import custom_partitioning, SdyShardingRule

        @custom_partitioning
        def softmax(x):
            return jax.nn.softmax(x, -1)

        def partition(mesh, arguments, result):
            kept = NamedSharding(mesh, P(*arguments[0].sharding.spec[:1], None))
            return mesh, lambda x: jax.nn.softmax(x, -1), kept, (kept,)

        softmax.def_partition(partition=partition, sharding_rule="i j -> i j", need_replication_factors=("j",))
        v = normal(8, 16)
        y = jax.jit(softmax)(jax.device_put(v, NamedSharding(mesh_of(Auto), P("x", "y"))))
        e = np.exp(v - v.max(1, keepdims=True))
        close(y, e / e.sum(1, keepdims=True))
        """,
    "a product that sums by itself": """
        from jax.experimental.custom_partitioning import custom_partitioning

        @custom_partitioning
        def product(x, y):
            return x @ y

        def partition(mesh, arguments, result):
            rows, inner = arguments[0].sharding, arguments[1].sharding
            axis = rows.spec[1] if len(rows.spec) > 1 else None
            first = NamedSharding(mesh, P(rows.spec[0] if rows.spec else None, axis))
            def lower(x, y):
                z = x @ y
                return lax.psum(z, axis) if axis else z
            return mesh, lower, NamedSharding(mesh, P(first.spec[0], None)), (first, NamedSharding(mesh, P(axis, None)))

        product.def_partition(partition=partition, sharding_rule="i k, k j -> i j", reduction_factors=("k",))
        mesh = mesh_of(Auto)
        a, b = normal(8, 16), normal(16, 8)
        x = jax.device_put(a, NamedSharding(mesh, P("x", "y")))
        y = jax.device_put(b, NamedSharding(mesh, P("y", None)))
        close(jax.jit(lambda x, y: product(x, y))(x, y), a @ b)
        """,
    "a function that is not split": """
        from jax.experimental.custom_partitioning import custom_partitioning
        @functools.partial(custom_partitioning, static_argnums=(1,))
        def power(x, n):
            return x ** n
        power.def_partition(
            partition=lambda n, mesh, arguments, result: (
                mesh, lambda x: x ** n, arguments[0].sharding, (arguments[0].sharding,)),
            sharding_rule="... -> ...")
        v = normal(8, 16)
        close(jax.jit(lambda x: power(x, 3))(v), v ** 3)
        x = jax.device_put(v, NamedSharding(mesh_of(Auto), P("y")))
        close(jax.jit(lambda x: power(x, 2))(x), v ** 2)
        """,
}
