# SPDX-License-Identifier: Apache-2.0
"""Programs of several processes, each with a part of the chips. Every process runs all of them, in this order."""

ARRAYS = {
    "devices of the processes": """
        assert jax.process_count() == PROCESSES
        assert sorted({d.process_index for d in jax.devices()}) == list(range(PROCESSES))
        assert jax.local_devices() == [d for d in jax.devices() if d.process_index == jax.process_index()]
        assert [d.local_hardware_id for d in jax.local_devices()] == list(range(COUNT // PROCESSES))
        assert len({d.id for d in jax.devices()}) == len(jax.devices()) == COUNT
        for p in range(PROCESSES):
            assert len(jax.local_devices(process_index=p)) == COUNT // PROCESSES
        """,
    "an array from the data of the processes": """
        v = normal(COUNT * 2, 3)
        x = from_local(v, P("x"))
        assert x.shape == v.shape and not x.is_fully_addressable
        for shard in x.addressable_shards:
            assert shard.device.process_index == jax.process_index()
            same(shard.data, v[shard.index])
        close(jax.jit(lambda x: x.sum(0))(x), v.sum(0))
        """,
    "an array from arrays of chips": """
        v = normal(COUNT * 4, 5)
        s = NamedSharding(mesh, P("x"))
        parts = [jax.device_put(v[index], d) for d, index in s.addressable_devices_indices_map(v.shape).items()]
        x = jax.make_array_from_single_device_arrays(v.shape, s, parts)
        close(jax.jit(lambda x: x.T @ x)(x), v.T @ v)
        """,
    "an array from a function of the index": """
        v = normal(8, COUNT * 2)
        x = jax.make_array_from_callback(v.shape, NamedSharding(mesh, P(None, "x")), lambda index: v[index])
        close(gathered(jax.jit(lambda x: x @ x.T)(x)), v @ v.T)
        """,
    "the same value of the host on all processes": """
        v = normal(COUNT * 2, COUNT)
        x = jax.device_put(v, NamedSharding(mesh, P("x")))
        close(gathered(jax.jit(jnp.cos)(x)), np.cos(v))
        """,
    "no value of other processes can be read": """
        x = from_local(normal(COUNT, 2), P("x"))
        refused("non-addressable", lambda: np.asarray(x))
        assert jax.jit(lambda x: x, out_shardings=NamedSharding(mesh, P()))(x).is_fully_replicated
        """,
    "arrays of global and local values": """
        from jax.experimental import multihost_utils
        v = normal(COUNT // PROCESSES, 6) + jax.process_index()
        x = multihost_utils.host_local_array_to_global_array(v, mesh, P("x"))
        assert x.shape == (COUNT, 6)
        same(multihost_utils.global_array_to_host_local_array(jax.jit(lambda x: x)(x), mesh, P("x")), v)
        """,
    "values of all element types": """
        for dtype in (np.int32, np.uint8, np.int8, np.float16, jnp.bfloat16, np.bool_, np.complex64):
            v = (np.arange(COUNT * 4).reshape(COUNT * 2, 2) % 5).astype(dtype)
            x = from_local(v, P("x"))
            same(gathered(jax.jit(lambda x: jnp.flip(x, 0))(x)), v[::-1])
        """,
    "an array in the host's memory": """
        v = normal(COUNT * 2, 4)
        x = jax.device_put(from_local(v, P("x")), NamedSharding(mesh, P("x"), memory_kind="pinned_host"))
        assert x.sharding.memory_kind == "pinned_host"
        close(jax.jit(lambda x: jax.device_put(x, NamedSharding(mesh, P("x"), memory_kind="device")).sum())(x), v.sum())
        """,
}

UTILITIES = {
    "values of all processes": """
        from jax.experimental import multihost_utils
        mine = np.full(3, jax.process_index(), np.int32)
        same(multihost_utils.process_allgather(mine), np.repeat(np.arange(PROCESSES), 3).reshape(PROCESSES, 3))
        same(multihost_utils.process_allgather(mine, tiled=True), np.repeat(np.arange(PROCESSES), 3))
        """,
    "a value of one process": """
        from jax.experimental import multihost_utils
        got = multihost_utils.broadcast_one_to_all({"a": np.float32(jax.process_index() + 7), "b": np.arange(3)})
        assert got["a"] == 7
        same(got["b"], np.arange(3))
        last = PROCESSES - 1
        got = multihost_utils.broadcast_one_to_all(np.int32(jax.process_index()), jax.process_index() == last)
        assert got == last
        """,
    "waiting for all processes": """
        import time
        from jax.experimental import multihost_utils
        time.sleep(0.2 * jax.process_index())
        multihost_utils.sync_global_devices("here")
        multihost_utils.assert_equal(np.arange(4), "differs")
        """,
    "a value that differs": """
        from jax.experimental import multihost_utils
        refused("it differs", lambda: multihost_utils.assert_equal(np.int32(jax.process_index()), "it differs"))
        """,
}

PROGRAMS = {
    "collectives": """
        v = normal(COUNT * COUNT, 4)
        parts = v.reshape(COUNT, COUNT, 4)
        def f(x):
            i = lax.axis_index("x")
            return (lax.psum(x, "x"), lax.pmax(x, "x"), lax.all_gather(x, "x", tiled=True),
                    lax.ppermute(x, "x", [(n, (n + 1) % COUNT) for n in range(COUNT)]),
                    lax.all_to_all(x, "x", 0, 0, tiled=True), lax.psum_scatter(x, "x", tiled=True),
                    jnp.full((1,), i))
        out = (P(), P(), P(), P("x"), P("x"), P("x"), P("x"))
        g = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=out, check_vma=False))
        total, most, whole, next, turned, scattered, index = map(gathered, g(from_local(v, P("x"))))
        close(total, parts.sum(0))
        same(most, parts.max(0))
        same(whole, v)
        same(next, np.roll(parts, 1, 0).reshape(v.shape))
        same(turned, parts.swapaxes(0, 1).reshape(v.shape))
        close(scattered, parts.sum(0))
        same(index, np.arange(COUNT))
        """,
    "training with data and model axes": """
        two = jax.make_mesh((2, COUNT // 2), ("data", "model"), axis_types=(Auto, Auto))
        put = lambda v, *spec: jax.make_array_from_callback(v.shape, NamedSharding(two, P(*spec)), lambda i: v[i])
        x, y, a, b = normal(16, 8), normal(16, 4), normal(8, COUNT * 4) / 4, normal(COUNT * 4, 4) / 4
        def loss(w, x, y): return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2)
        def step(w, x, y): return jax.tree.map(lambda w, g: w - 0.1 * g, w, jax.grad(loss)(w, x, y)), loss(w, x, y)
        w, here = (put(a, None, "model"), put(b, "model")), (jnp.asarray(a), jnp.asarray(b))
        for _ in range(5):
            w, found = jax.jit(step, donate_argnums=0)(w, put(x, "data"), put(y, "data"))
            here, expected = jax.jit(step)(here, x, y)
            close(found, expected, 1e-4)
        for found, expected in zip(w, here):
            close(gathered(found), expected, 1e-4)
        """,
    "chips in another order": """
        v = normal(COUNT * 2, 6)
        for order in (range(COUNT)[::-1], [*range(0, COUNT, 2), *range(1, COUNT, 2)]):
            other = Mesh(np.array(jax.devices())[[*order]], ("x",))
            x = jax.make_array_from_callback(v.shape, NamedSharding(other, P("x")), lambda index: v[index])
            a, b, c = jax.jit(lambda x: (jnp.sort(x, 0), x * 2, x.sum()))(x)
            for shard in b.addressable_shards:
                same(shard.data, v[shard.index] * 2)
            same(gathered(a), np.sort(v, 0))
            close(c, v.sum(), 1e-4)
        """,
    "chips of some processes": """
        chips = [d for p in (0, PROCESSES - 1) for d in jax.local_devices(process_index=p)]
        if jax.process_index() in (0, PROCESSES - 1):
            some = Mesh(np.array(chips), ("x",))
            v = normal(len(chips) * 3, 2)
            x = jax.make_array_from_callback(v.shape, NamedSharding(some, P("x")), lambda index: v[index])
            close(jax.jit(lambda x: jnp.cumsum(x, 0)[-1], out_shardings=NamedSharding(some, P()))(x), v.sum(0), 1e-4)
        """,
    "programs of one process between programs of all": """
        x = from_local(normal(COUNT, 4), P("x"))
        for turn in range(4):
            total = jax.jit(lambda x: x.sum())(x)
            if jax.process_index() == turn % PROCESSES:
                own = jax.jit(lambda x: x * 2 + turn)(jnp.arange(5.0))
                same(own, np.arange(5.0) * 2 + turn)
                assert own.devices() == {jax.local_devices()[0]}
            mine = Mesh(np.array(jax.local_devices()), ("x",))
            v = normal(len(jax.local_devices()) * 2, 3) * (1 + jax.process_index())
            y = jax.jit(lambda x: x.sum(0))(jax.device_put(v, NamedSharding(mine, P("x"))))
            close(y, v.sum(0))
            close(total, jax.jit(lambda x: x.sum())(x))
        """,
    "loops and branches": """
        v = normal(COUNT * 2, 4)
        def f(x):
            def step(x, i):
                x = lax.cond(x.sum() > 0, lambda x: x - lax.cummax(x, 0), lambda x: x + x.mean(0), x)
                return x, x.sum()
            x, sums = lax.scan(step, x, jnp.arange(5))
            return lax.while_loop(lambda x: jnp.abs(x).max() > 0.1, lambda x: x / 2, x), sums
        found, expected = jax.jit(f)(from_local(v, P("x"))), jax.jit(f)(jnp.asarray(v))
        close(gathered(found[0]), expected[0], 1e-4)
        close(found[1], expected[1], 1e-4)
        """,
    "branches that differ between chips": """
        def f(x):
            i = lax.axis_index("x")
            x = lax.switch(i % 3, [lambda x: x * 2, lambda x: x - 1, lambda x: -x], x)
            return lax.fori_loop(0, i, lambda _, x: x + 1, x)
        v = normal(COUNT, 4)
        g = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False))
        rows = [[v[i] * 2, v[i] - 1, -v[i]][i % 3] + i for i in range(COUNT)]
        close(gathered(g(from_local(v, P("x")))), np.stack(rows))
        """,
    "random numbers": """
        s = NamedSharding(mesh, P("x"))
        draw = jax.jit(lambda key: jax.random.normal(key, (COUNT * 2, 8)), out_shardings=s)
        same(gathered(draw(jax.random.key(3))), jax.random.normal(jax.random.key(3), (COUNT * 2, 8)))
        """,
    "one program written on different lines": """
        x = from_local(normal(COUNT, 4), P("x"))
        if jax.process_index():
            y = jax.jit(lambda x: jnp.tanh(x).sum())(x)
        else:
            y = jax.jit(lambda x: jnp.tanh(x).sum())(x)
        close(gathered(y), np.tanh(gathered(x)).sum(), 1e-4)
        """,
    "a compiled program and its cost": """
        s = NamedSharding(mesh, P("x"))
        like = jax.ShapeDtypeStruct((COUNT * 2, 8), np.float32, sharding=s)
        compiled = jax.jit(lambda x: x @ x.T).lower(like).compile()
        v = normal(COUNT * 2, 8)
        close(gathered(compiled(from_local(v, P("x")))), v @ v.T)
        assert compiled.cost_analysis()["flops"] > 0
        """,
    "functions of Python": """
        v = normal(COUNT * 2, 4)
        spec = jax.ShapeDtypeStruct((COUNT * 2, 4), np.float32)
        f = jax.jit(lambda x: jax.pure_callback(lambda x: np.sort(np.asarray(x), 0), spec, x) + 1)
        close(gathered(f(from_local(v, P("x")))), np.sort(v, 0) + 1)
        @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
        def parts(x):
            return jax.pure_callback(lambda x: np.sort(np.asarray(x), 0), jax.ShapeDtypeStruct(x.shape, x.dtype), x,
                                     vmap_method="sequential")
        close(gathered(jax.jit(parts)(from_local(v, P("x")))), np.sort(v.reshape(COUNT, 2, 4), 1).reshape(v.shape))
        """,
    "functions of Python with effects": """
        from jax.experimental import io_callback
        calls = []
        def count(x): calls.append(float(x)); return np.float32(len(calls))
        @jax.jit
        def f(x):
            jax.debug.callback(lambda x: calls.append(float(x)), x.sum())
            return x + io_callback(count, jax.ShapeDtypeStruct((), np.float32), x.sum(), ordered=False)
        v = normal(COUNT, 4)
        y = gathered(f(from_local(v, P("x"))))
        total = process_sum(len(calls))
        assert total == 2 and len(calls) == (2 if jax.process_index() == 0 else 0), (total, calls)
        close(y[0, 0] - v[0, 0], round(float(y[0, 0] - v[0, 0])), 1e-4)
        """,
}

KEPT = {
    "a checkpoint": """
        import orbax.checkpoint as ocp
        v = normal(COUNT * 2, 4)
        state = {"w": from_local(v, P("x")), "step": 3}
        path = pathlib.Path(FOLDER) / "checkpoint"
        with ocp.StandardCheckpointer() as saver:
            saver.save(path, state)
        two = jax.make_mesh((COUNT // 2, 2), ("a", "b"), axis_types=(Auto, Auto))
        like = {"w": jax.ShapeDtypeStruct(v.shape, np.float32, sharding=NamedSharding(two, P("b", "a"))), "step": 0}
        with ocp.StandardCheckpointer() as reader:
            again = reader.restore(path, like)
        assert again["step"] == 3 and again["w"].sharding.spec == P("b", "a")
        same(gathered(again["w"]), v)
        """,
    "training of a model of flax": """
        import optax
        from flax import linen as nn
        model = nn.Sequential([nn.Dense(16), nn.relu, nn.Dense(3)])
        x, y = normal(COUNT * 4, 8), np.arange(COUNT * 4) % 3
        tx = optax.adam(1e-2)
        weights = jax.jit(model.init)(jax.random.key(0), jnp.asarray(x))
        def step(w, state, x, y):
            def loss(w): return optax.softmax_cross_entropy_with_integer_labels(model.apply(w, x), y).mean()
            value, grads = jax.value_and_grad(loss)(w)
            updates, state = tx.update(grads, state)
            return optax.apply_updates(w, updates), state, value
        everywhere = NamedSharding(mesh, P())
        w = jax.tree.map(lambda w: jax.device_put(np.asarray(w), everywhere), weights)
        state = jax.jit(tx.init, out_shardings=everywhere)(w)
        here, kept = weights, jax.jit(tx.init)(weights)
        for _ in range(4):
            w, state, found = jax.jit(step)(w, state, from_local(x, P("x")), from_local(y, P("x")))
            here, kept, expected = jax.jit(step)(here, kept, x, y)
            close(found, expected, 1e-4)
        """,
}
