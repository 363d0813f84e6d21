# SPDX-License-Identifier: Apache-2.0
"""Programs about shardings, as JAX's users write them. Each runs on every mesh of two axes, `x` and `y`."""

EXPLICIT = {
    "a sharding in a type": """
        with jax.set_mesh(mesh_of(Explicit)):
            x = jax.device_put(normal(8, 16), P("x", "y"))
            assert jax.typeof(x).sharding.spec == P("x", "y")
            y = jax.jit(lambda x: jnp.sin(x) * 2)(x)
            assert jax.typeof(y).sharding.spec == P("x", "y")
            close(y, np.sin(np.asarray(x)) * 2)
        """,
    "reshard to another axis": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            for spec in [P("y", "x"), P(None, None), P(("x", "y"), None), P(None, ("y", "x"))]:
                for run in [jax.jit, lambda f: f]:
                    y = run(lambda x: jax.reshard(x, spec))(x)
                    assert jax.typeof(y).sharding.spec == spec, jax.typeof(y)
                    same(y, v)
        """,
    "a product with the sharding of its result": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, y = jax.device_put(a, P("x", "y")), jax.device_put(b, P("y", None))
            z = jax.jit(lambda x, y: jnp.dot(x, y, out_sharding=P("x", None)))(x, y)
            assert jax.typeof(z).sharding.spec == P("x", None)
            close(z, a @ b)
            z = jax.jit(lambda x, y: jnp.einsum("ij,jk->ki", x, y, out_sharding=P("y", "x")))(x, y)
            assert jax.typeof(z).sharding.spec == P("y", "x")
            close(z, (a @ b).T)
        """,
    "a reshape with the sharding of its result": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            y = jax.jit(lambda x: jax.lax.reshape(x, (4, 2, 16), out_sharding=P(None, "x", "y")))(x)
            assert jax.typeof(y).sharding.spec == P(None, "x", "y")
            same(y, v.reshape(4, 2, 16))
        """,
    "made with a sharding": """
        with jax.set_mesh(mesh_of(Explicit)):
            x = jax.jit(lambda: jnp.zeros((8, 16), out_sharding=P("x", "y")))()
            assert jax.typeof(x).sharding.spec == P("x", "y")
            y = jax.jit(lambda: lax.broadcasted_iota(jnp.int32, (8, 16), 1, out_sharding=P(None, "y")))()
            assert jax.typeof(y).sharding.spec == P(None, "y")
            same(y, np.broadcast_to(np.arange(16), (8, 16)))
        """,
    "random numbers with a sharding": """
        with jax.set_mesh(mesh_of(Explicit)):
            key = jax.random.key(3)
            x = jax.jit(lambda k: jax.random.uniform(k, (8, 16), out_sharding=P("x", "y")))(key)
            assert jax.typeof(x).sharding.spec == P("x", "y")
        same(x, jax.random.uniform(key, (8, 16)))
        """,
    "a gather with the sharding of its result": """
        with jax.set_mesh(mesh_of(Explicit)):
            table, place = normal(16, 8), np.array([[3, 1], [0, 15], [7, 7], [2, 9], [1, 1], [4, 5], [6, 8], [0, 2]])
            t, i = jax.device_put(table, P(None, "y")), jax.device_put(place.astype(np.int32), P("x", None))
            y = jax.jit(lambda t, i: t.at[i].get(out_sharding=P("x", None, "y")))(t, i)
            assert jax.typeof(y).sharding.spec == P("x", None, "y")
            same(y, table[place])
        """,
    "an ambiguous sum is refused": """
        with jax.set_mesh(mesh_of(Explicit)):
            x, y = jax.device_put(normal(8, 8), P("x", "y")), jax.device_put(normal(8, 8), P("y", "x"))
            refused("sharding", lambda: jax.jit(jnp.add)(x, y))
            refused("sharding", lambda: jax.jit(jnp.dot)(x, y))
        """,
    "auto axes in a region": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            f = jax.sharding.auto_axes(lambda x: jnp.tanh(x @ x.T), out_sharding=P("x", None))
            y = jax.jit(f)(x)
            assert jax.typeof(y).sharding.spec == P("x", None)
            close(y, np.tanh(v @ v.T))
        """,
    "explicit axes in a region": """
        mesh = mesh_of(Auto)
        with jax.set_mesh(mesh):
            v = normal(8, 16)
            f = jax.sharding.explicit_axes(lambda x: x * 2, in_sharding=P("x", "y"))
            close(jax.jit(f)(v), v * 2)
        """,
    "auto along one of two axes": """
        with jax.set_mesh(mesh_of(Explicit, Auto)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", None))
            y = jax.jit(lambda x: jnp.cos(x).sum(1))(x)
            assert jax.typeof(y).sharding.spec == P("x")
            close(y, np.cos(v).sum(1))
        """,
    "gradients keep shardings": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, w = jax.device_put(a, P("x", None)), jax.device_put(b, P(None, "y"))
            g = jax.jit(jax.grad(lambda w, x: jnp.sum(jnp.tanh(x @ w) ** 2)))(w, x)
            assert jax.typeof(g).sharding.spec == P(None, "y")
            t = np.tanh(a @ b)
            close(g, a.T @ (2 * t * (1 - t * t)))
        """,
    "scan over a split carry": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            y, s = jax.jit(lambda x: lax.scan(lambda c, _: (c * 0.5, c.sum()), x, None, length=3))(x)
            assert jax.typeof(y).sharding.spec == P("x", "y")
            close(y, v / 8)
            close(s, [v.sum(), v.sum() / 2, v.sum() / 4])
        """,
    "cond and while keep shardings": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            y = jax.jit(lambda x: lax.cond(x.sum() > 1e6, lambda x: x * 2, lambda x: x + 1, x))(x)
            assert jax.typeof(y).sharding.spec == P("x", "y")
            close(y, v + 1)
            z = jax.jit(lambda x: lax.while_loop(lambda c: jnp.abs(c).max() < 50, lambda c: c * 2, x))(x)
            while np.abs(v).max() < 50:
                v = v * 2
            close(z, v)
        """,
    "vmap with a name of an axis": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 4, 4), normal(4, 4)
            x = jax.device_put(a, P("x", None, None))
            y = jax.jit(jax.vmap(lambda x: jnp.tanh(x @ b), spmd_axis_name="x"))(x)
            close(y, np.tanh(a @ b))
        """,
    "sort, cumsum and argmax of split values": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", None))
            s, c, m = jax.jit(lambda x: (jnp.sort(x, 1), jnp.cumsum(x, 1), jnp.argmax(x, 1)))(x)
            same(s, np.sort(v, 1))
            close(c, np.cumsum(v, 1))
            same(m, v.argmax(1))
        """,
    "a mesh of one axis, of three and of none": """
        one = jax.make_mesh((COUNT,), ("a",), axis_types=(Explicit,))
        three = jax.make_mesh((SIZES[0], 1, SIZES[1]), ("a", "b", "c"), axis_types=(Explicit,) * 3)
        v = normal(8, 16)
        for mesh, spec in [(one, P("a", None)), (three, P("a", ("b", "c")))]:
            with jax.set_mesh(mesh):
                y = jax.jit(lambda x: x * 3)(jax.device_put(v, spec))
                assert jax.typeof(y).sharding.spec == spec, jax.typeof(y)
                close(y, v * 3)
        """,
    "an abstract mesh lowers": """
        mesh = mesh_of(Explicit)
        shape = jax.ShapeDtypeStruct((8, 16), np.float32, sharding=NamedSharding(mesh, P("x", "y")))
        text = jax.jit(lambda x: x * 2).lower(shape).as_text()
        assert "sdy.mesh" in text or COUNT == 1
        with jax.sharding.use_abstract_mesh(mesh.abstract_mesh):
            assert jax.sharding.get_abstract_mesh().axis_names == ("x", "y")
        """,
    "embedding and loss of a split vocabulary": """
        with jax.set_mesh(mesh_of(Explicit)):
            table, ids = normal(32, 8), np.arange(8, dtype=np.int32) * 3 % 32
            t, i = jax.device_put(table, P("y", None)), jax.device_put(ids, P("x"))

            def loss(t, i):
                h = jnp.einsum("bv,vd->bd", jax.nn.one_hot(i, 32, axis=-1), jax.reshard(t, P(None, None)))
                z = jnp.einsum("bd,vd->bv", h, t, out_sharding=P("x", "y"))
                return -jnp.mean(jnp.sum(jax.nn.log_softmax(z) * jax.nn.one_hot(i, 32), -1))

            z = table[ids] @ table.T
            z = z - z.max(1, keepdims=True)
            want = -np.mean((z - np.log(np.exp(z).sum(1, keepdims=True)))[np.arange(8), ids])
            one_hot = jax.jit(lambda t, i: jnp.sum(jax.nn.one_hot(i, 32) @ jax.reshard(t, P(None, None))))(t, i)
            close(one_hot, table[ids].sum(), 1e-4)
        """,
}

PARTIAL = {
    "a partial product, summed by reshard": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, y = jax.device_put(a, P(None, "x")), jax.device_put(b, P("x", None))
            f = lambda x, y: jnp.einsum("ij,jk->ik", x, y, out_sharding=P(None, None, unreduced={"x"}))
            close(jax.jit(lambda x, y: jax.reshard(f(x, y), P(None, None)))(x, y), a @ b)
            close(jax.jit(lambda x, y: jax.reshard(f(x, y), P("x", None)))(x, y), a @ b)
        """,
    "a partial value between two programs": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, y = jax.device_put(a, P("x", "y")), jax.device_put(b, P("y", None))
            p = jax.jit(lambda x, y: jnp.einsum("ij,jk->ik", x, y, out_sharding=P("x", None, unreduced={"y"})))(x, y)
            assert p.sharding.spec == P("x", None, unreduced={"y"}), p.sharding
            assert jax.typeof(p).sharding.spec.unreduced == {"y"}
            close(jax.jit(lambda p: jax.reshard(p, P("x", None)))(p), a @ b)
            close(jax.reshard(p, P("x", "y")), a @ b)
        """,
    "partial values along two axes": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, y = jax.device_put(a, P(None, ("x", "y"))), jax.device_put(b, P(("x", "y"), None))
            f = lambda x, y: jnp.einsum("ij,jk->ik", x, y, out_sharding=P(None, None, unreduced={"x", "y"}))
            close(jax.jit(lambda x, y: jax.reshard(f(x, y), P(None, None)))(x, y), a @ b)
            half = jax.jit(lambda x, y: jax.reshard(f(x, y), P(None, None, unreduced={"x"})))(x, y)
            close(jax.reshard(half, P(None, None)), a @ b)
        """,
    "sums of partial values": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, y = jax.device_put(a, P(None, "y")), jax.device_put(b, P("y", None))
            f = lambda x, y: jnp.einsum("ij,jk->ik", x, y, out_sharding=P(None, None, unreduced={"y"}))
            p = jax.jit(lambda x, y: f(x, y) + f(x, y))(x, y)
            assert p.sharding.spec.unreduced == {"y"}
            close(jax.jit(lambda p: jax.reshard(p, P(None, None)))(p), 2 * (a @ b))
        """,
    "a whole value made partial": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            p = jax.reshard(jax.device_put(v, P(None, None)), P(None, None, unreduced={"x"}))
            assert p.sharding.spec.unreduced == {"x"}
            same(jax.reshard(p, P(None, None)), v)
            same(jax.jit(lambda p: jax.reshard(p, P(None, None)))(p), v)
        """,
    "a reduction that stays partial": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            f = jax.jit(lambda x: lax.reduce_sum(x, (0,), out_sharding=P("y", unreduced={"x"})))
            p = f(x)
            assert p.sharding.spec.unreduced == {"x"}
            close(jax.reshard(p, P("y")), v.sum(0))
        """,
    "gradients of weights that wait for their sum": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(8, 16), normal(16, 8)
            x, w = jax.device_put(a, P("x", None)), jax.device_put(b, P(None, None, reduced={"x"}))
            g = jax.jit(jax.grad(lambda w, x: jnp.sum(jnp.dot(x, w, out_sharding=P("x", None)) ** 2)))(w, x)
            assert g.sharding.spec.unreduced == {"x"}, g.sharding
            close(jax.reshard(g, P(None, None)), 2 * a.T @ (a @ b))
        """,
    "micro-batches that are summed at the end": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = normal(4, 8, 16), normal(16, 8)
            x, w = jax.device_put(a, P(None, "x", None)), jax.device_put(b, P(None, None, reduced={"x"}))

            def total(x, w):
                g = jax.grad(lambda w, x: jnp.sum(jnp.dot(x, w, out_sharding=P("x", None)) ** 2))
                summed = g(w, x[0])
                for i in range(1, 4):
                    summed = summed + g(w, x[i])
                return jax.reshard(summed, P(None, None))

            close(jax.jit(total)(x, w), sum(2 * v.T @ (v @ b) for v in a))
        """,
    "partial values in shard_map": """
        mesh = mesh_of(Explicit)
        with jax.set_mesh(mesh):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            f = jax.shard_map(lambda x: lax.psum(x, "x"), in_specs=P("x", "y"), out_specs=P(None, "y"))
            close(jax.jit(f)(x), v.reshape(SIZES[0], -1, 16).sum(0))
            g = jax.shard_map(lambda x: x, in_specs=P(None, "y"), out_specs=P(None, "y"))
            close(jax.jit(g)(jax.device_put(v, P(None, "y"))), v)
        """,
    "partial values out of shard_map and into it": """
        mesh = mesh_of(Explicit)
        with jax.set_mesh(mesh):
            v = normal(8, 16)
            x = jax.device_put(v, P("x", "y"))
            f = jax.shard_map(lambda x: x * 2, in_specs=P("x", "y"), out_specs=P(None, "y", unreduced={"x"}))
            if COUNT > 1:  # JAX asserts that a function for one device is for several
                p = jax.jit(f)(x)
                assert p.sharding.spec.unreduced == {"x"}
                close(jax.reshard(p, P(None, "y")), 2 * v.reshape(SIZES[0], -1, 16).sum(0))
        """,
    "partial integers": """
        with jax.set_mesh(mesh_of(Explicit)):
            a, b = np.arange(128, dtype=np.int32).reshape(8, 16), np.arange(128, dtype=np.int32).reshape(16, 8)
            x, y = jax.device_put(a, P(None, "y")), jax.device_put(b, P("y", None))
            f = lambda x, y: jnp.einsum("ij,jk->ik", x, y, out_sharding=P(None, None, unreduced={"y"}))
            same(jax.jit(lambda x, y: jax.reshard(f(x, y), P(None, "y")))(x, y), a @ b)
        """,
    "partial values are read only after their sum": """
        with jax.set_mesh(mesh_of(Explicit)):
            x, y = jax.device_put(normal(8, 16), P(None, "y")), jax.device_put(normal(16, 8), P("y", None))
            f = lambda x, y: jnp.einsum("ij,jk->ik", x, y, out_sharding=P(None, None, unreduced={"y"}))
            refused("unreduced", lambda: jax.jit(lambda x, y: jnp.sin(f(x, y)))(x, y))
        """,
}
