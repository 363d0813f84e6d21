# SPDX-License-Identifier: Apache-2.0
"""Programs about memories of the host and layouts of arrays, as JAX's users write them."""

MEMORIES = {
    "the memories of a device": """
        device = jax.devices()[0]
        kinds = {memory.kind for memory in device.addressable_memories()}
        assert {"device", "pinned_host", "unpinned_host"} <= kinds, kinds
        assert device.default_memory().kind == "device"
        assert device.memory("pinned_host").kind == "pinned_host"
        assert device in device.memory("pinned_host").addressable_by_devices()
        """,
    "to the host and back": """
        v = normal(8, 16)
        for kind in ["pinned_host", "unpinned_host"]:
            x = jax.device_put(v, SingleDeviceSharding(jax.devices()[0], memory_kind=kind))
            assert x.sharding.memory_kind == kind
            same(x, v)
            y = jax.device_put(x, SingleDeviceSharding(jax.devices()[0], memory_kind="device"))
            assert y.sharding.memory_kind == "device"
            same(y, v)
        """,
    "by memory spaces": """
        v = normal(8, 16)
        x = jax.device_put(v, jax.memory.Space.Host)
        assert x.sharding.memory_kind == "pinned_host"
        assert jax.typeof(x).memory_space == jax.memory.Space.Host
        same(jax.device_put(x, jax.memory.Space.Device), v)
        """,
    "parts of every chip on the host": """
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        s = NamedSharding(mesh, P("x", "y"), memory_kind="pinned_host")
        x = jax.device_put(v, s)
        assert x.sharding == s and len(x.addressable_shards) == COUNT
        same(x, v)
        y = jax.device_put(x, s.with_memory_kind("device"))
        close(jax.jit(lambda y: y * 2)(y), v * 2)
        z = jax.device_put(y, s)
        assert z.sharding.memory_kind == "pinned_host"
        same(z, v)
        """,
    "a move inside of a program": """
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        v = normal(8, 16)
        host = s.with_memory_kind("pinned_host")
        x = jax.device_put(v, host)
        y = jax.jit(lambda x: jax.device_put(x, s) * 2)(x)
        assert y.sharding.memory_kind == "device"
        close(y, v * 2)
        """,
    "results on the host": """
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        host = s.with_memory_kind("pinned_host")
        v = normal(8, 16)
        y = jax.jit(lambda x: x * 2, out_shardings=host)(jax.device_put(v, s))
        assert y.sharding.memory_kind == "pinned_host", y.sharding
        close(y, v * 2)
        z = jax.jit(lambda x: jax.device_put(x + 1, host))(jax.device_put(v, s))
        assert z.sharding.memory_kind == "pinned_host", z.sharding
        close(z, v + 1)
        """,
    "arguments and results on the host": """
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        host = s.with_memory_kind("pinned_host")
        v = normal(8, 16)
        f = jax.jit(lambda x: x, in_shardings=host, out_shardings=host)
        y = f(jax.device_put(v, host))
        assert y.sharding.memory_kind == "pinned_host"
        same(y, v)
        """,
    "only some results on the host": """
        s = NamedSharding(mesh_of(Auto), P("x"))
        host = s.with_memory_kind("pinned_host")
        v = normal(8, 16)
        a, b, c = jax.jit(lambda x: (x + 1, x * 2, x.sum()), out_shardings=(host, s, None))(jax.device_put(v, s))
        assert [r.sharding.memory_kind for r in (a, b, c)] == ["pinned_host", "device", "device"]
        close(a, v + 1)
        close(b, v * 2)
        """,
    "a copy that waits on the host between two uses": """
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        v = normal(8, 16)

        @jax.jit
        def f(x):
            kept = jax.device_put(jnp.sin(x), jax.memory.Space.Host)
            y = x * 3
            return y + jax.device_put(kept, jax.memory.Space.Device)

        close(f(jax.device_put(v, s)), np.sin(v) + 3 * v)
        """,
    "computed where the host is": """
        from jax.experimental.compute_on import compute_on
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        v = normal(8, 16)

        @compute_on("device_host")
        @jax.jit
        def g(x):
            return x * 2

        @jax.jit
        def f(x):
            return g(x * 3) + 1

        close(f(jax.device_put(v, s)), v * 6 + 1)
        """,
    "the optimizer's state on the host": """
        import optax
        mesh = mesh_of(Auto)
        s = NamedSharding(mesh, P("x", "y"))
        params = {"w": jax.device_put(normal(8, 16), s), "v": jax.device_put(normal(16, 8), s)}
        data, goal = normal(8, 8), normal(8, 8)
        optimizer = optax.adam(1e-2)
        place = lambda kind: lambda x: NamedSharding(mesh, x.sharding.spec if x.ndim else P(), memory_kind=kind)
        state = optimizer.init(params)
        host = jax.tree.map(place("pinned_host"), state)
        chips = jax.tree.map(place("device"), state)

        def step(params, state):
            f = lambda p: jnp.mean((jnp.tanh(data @ p["w"]) @ p["v"] - goal) ** 2)
            loss, grads = jax.value_and_grad(f)(params)
            updates, state = optimizer.update(grads, state, params)
            return optax.apply_updates(params, updates), state, loss

        shardings = jax.tree.map(lambda x: s, params), host, None

        @functools.partial(jax.jit, donate_argnums=(0, 1), out_shardings=shardings)
        def offloaded(params, state):
            params, state, loss = step(params, jax.device_put(state, chips))
            return params, state, loss

        want, known = jax.tree.map(lambda x: jnp.array(np.asarray(x)), params), state
        known = jax.tree.map(lambda x: jnp.array(np.asarray(x)), state)
        state = jax.device_put(state, host)
        for _ in range(4):
            params, state, loss = offloaded(params, state)
            want, known, expected = jax.jit(step)(want, known)
            close(loss, expected, 1e-4)
        assert all(x.sharding.memory_kind == "pinned_host" for x in jax.tree.leaves(state))
        for name in params:
            close(params[name], want[name], 1e-4)
        """,
    "a flax model whose optimizer's state lies on the host": """
        import flax.linen as nn, optax
        from flax.training.train_state import TrainState
        mesh = mesh_of(Auto)

        class Model(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = nn.relu(nn.Dense(32)(x))
                x = nn.LayerNorm()(x)
                return nn.Dense(4)(x)

        model, x = Model(), normal(8, 16)
        y = np.arange(8) % 4
        params = model.init(jax.random.key(0), x)
        state = TrainState.create(apply_fn=model.apply, params=params, tx=optax.adamw(1e-2))
        state = state.replace(step=jnp.array(0))
        split = lambda x: NamedSharding(mesh, P(None, "y") if x.ndim == 2 else P())
        chips = jax.tree.map(split, state)
        host = chips.replace(opt_state=jax.tree.map(lambda s: s.with_memory_kind("pinned_host"), chips.opt_state))

        def step(state, x, y):
            def loss(params):
                return optax.softmax_cross_entropy_with_integer_labels(state.apply_fn(params, x), y).mean()
            value, grads = jax.value_and_grad(loss)(state.params)
            return state.apply_gradients(grads=grads), value

        def offloaded(state, x, y):
            return step(state.replace(opt_state=jax.device_put(state.opt_state, chips.opt_state)), x, y)

        jitted = jax.jit(offloaded, in_shardings=(host, None, None), out_shardings=(host, None), donate_argnums=0)
        plain = jax.jit(step)
        other, state = state, jax.device_put(jax.tree.map(jnp.copy, state), host)
        losses = []
        for _ in range(5):
            state, value = jitted(state, x, y)
            other, want = plain(other, x, y)
            close(value, want, 1e-4)
            losses.append(float(value))
        assert losses[-1] < losses[0]
        assert {x.sharding.memory_kind for x in jax.tree.leaves(state.opt_state)} == {"pinned_host"}
        assert {x.sharding.memory_kind for x in jax.tree.leaves(state.params)} == {"device"}
        """,
    "an nnx model with weights on the host": """
        from flax import nnx
        model = nnx.Linear(16, 8, rngs=nnx.Rngs(0))
        graph, state = nnx.split(model)
        host = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
        x = normal(4, 16)
        want = np.asarray(model(x))
        kept = jax.device_put(state, host)

        @jax.jit
        def f(state, x):
            return nnx.merge(graph, jax.device_put(state, jax.memory.Space.Device))(x)

        close(f(kept, x), want)
        """,
    "gradients from activations on the host": """
        from jax.ad_checkpoint import checkpoint_name
        v, w = normal(8, 16), normal(3, 16, 16) / 4

        def layer(x, w):
            return checkpoint_name(jnp.tanh(x @ w), "kept"), None

        def loss(w, policy):
            f = layer if policy is None else jax.checkpoint(layer, policy=policy)
            return jnp.sum(lax.scan(f, v, w)[0] ** 2)

        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=[], names_which_can_be_offloaded=["kept"],
            offload_src="device", offload_dst="pinned_host")
        close(jax.jit(jax.grad(lambda w: loss(w, policy)))(w), jax.jit(jax.grad(lambda w: loss(w, None)))(w), 1e-4)
        """,
    "gradients from products on the host": """
        v, w = normal(8, 16), normal(16, 16) / 4
        policy = jax.checkpoint_policies.offload_dot_with_no_batch_dims("device", "pinned_host")
        f = lambda w: jnp.sum(jnp.sin(jnp.tanh(v @ w) @ w))
        close(jax.jit(jax.grad(jax.checkpoint(f, policy=policy)))(w), jax.jit(jax.grad(f))(w), 1e-4)
        """,
    "gradients of split activations on the host": """
        from jax.ad_checkpoint import checkpoint_name
        mesh = mesh_of(Auto)
        x = jax.device_put(normal(8, 16), NamedSharding(mesh, P("x", None)))
        w = jax.device_put(normal(16, 16) / 4, NamedSharding(mesh, P(None, "y")))
        policy = jax.checkpoint_policies.save_and_offload_only_these_names(
            names_which_can_be_saved=["b"], names_which_can_be_offloaded=["a"],
            offload_src="device", offload_dst="pinned_host")

        def f(w, x):
            a = checkpoint_name(jnp.sin(x @ w), "a")
            return jnp.sum(checkpoint_name(jnp.cos(a @ w), "b") ** 2)

        close(jax.jit(jax.grad(jax.checkpoint(f, policy=policy)))(w, x), jax.jit(jax.grad(f))(w, x), 1e-4)
        """,
    "memory is freed on the chip and kept on the host": """
        device = jax.devices()[0]
        stats = device.memory_stats()
        before = stats["bytes_in_use"] if stats else 0
        x = jax.device_put(np.ones((512, 512), np.float32), device)
        y = jax.device_put(x, SingleDeviceSharding(device, memory_kind="pinned_host"))
        x.delete()
        if stats:
            assert device.memory_stats()["bytes_in_use"] == before
        same(y, np.ones((512, 512)))
        """,
    "donated on the host": """
        s = NamedSharding(mesh_of(Auto), P("x"))
        host = s.with_memory_kind("pinned_host")
        v = normal(8, 16)
        x = jax.device_put(v, s)
        refused("memory kinds", lambda: jax.device_put(x, host, donate=True))
        z = jax.jit(lambda x: x + 1, donate_argnums=0, out_shardings=host)(jax.device_put(v, host))
        close(z, v + 1)
        """,
    "donated from the host": """
        s = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
        v = normal(8, 16)
        x = jax.device_put(v, s)
        f = jax.jit(lambda x: jax.device_put(jax.device_put(x, jax.memory.Space.Device) * 2, jax.memory.Space.Host),
                    donate_argnums=0)
        y = f(x)
        assert x.is_deleted() and y.sharding.memory_kind == "pinned_host"
        close(y, v * 2)
        """,
    "arrays of the host in a scan": """
        w = normal(4, 16, 16) / 4
        v = normal(8, 16)
        layers = jax.device_put(w, SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))

        @jax.jit
        def f(layers, x):
            return lax.scan(lambda x, w: (jnp.tanh(x @ jax.device_put(w, jax.memory.Space.Device)), None), x, layers)[0]

        want = v
        for m in w:
            want = np.tanh(want @ m)
        close(f(layers, v), want)
        """,
    "other types on the host": """
        s = NamedSharding(mesh_of(Auto), P("x"), memory_kind="pinned_host")
        for dtype in [np.int8, np.uint16, np.int32, jnp.bfloat16, np.complex64, bool, jnp.float8_e4m3fn, jnp.int4]:
            v = (np.arange(16).reshape(8, 2) % 7).astype(dtype)
            x = jax.device_put(v, s)
            assert x.sharding.memory_kind == "pinned_host" and x.dtype == v.dtype
            same(x, v)
            fetch = lambda x: jax.device_put(x, jax.memory.Space.Device)
            same(jax.jit(fetch, out_shardings=s.with_memory_kind("device"))(x), v)
        """,
    "keys of random numbers on the host": """
        s = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
        key = jax.random.key(7)
        kept = jax.device_put(key, s)
        assert kept.sharding.memory_kind == "pinned_host"
        same(jax.random.key_data(jax.device_put(kept, jax.memory.Space.Device)), jax.random.key_data(key))
        """,
    "arrays made of parts on the host": """
        s = NamedSharding(mesh_of(Auto), P("x", "y"), memory_kind="pinned_host")
        v = normal(8, 16)
        x = jax.make_array_from_callback((8, 16), s, lambda i: v[i])
        assert x.sharding.memory_kind == "pinned_host"
        same(x, v)
        parts = [jax.device_put(v[i], SingleDeviceSharding(d, memory_kind="pinned_host"))
                 for d, i in s.devices_indices_map((8, 16)).items()]
        same(jax.make_array_from_single_device_arrays((8, 16), s, parts), v)
        """,
    "a program compiled ahead says its memories": """
        s = NamedSharding(mesh_of(Auto), P("x"))
        host = s.with_memory_kind("pinned_host")
        shape = jax.ShapeDtypeStruct((8, 16), np.float32, sharding=host)
        compiled = jax.jit(lambda x: jax.device_put(x, s) * 2, out_shardings=host).lower(shape).compile()
        assert compiled.input_shardings[0][0].memory_kind == "pinned_host"
        assert compiled.output_shardings.memory_kind == "pinned_host"
        assert compiled.memory_analysis().host_argument_size_in_bytes >= 0
        v = normal(8, 16)
        close(compiled(jax.device_put(v, host)), v * 2)
        """,
    "an array on the host in an operation without jit": """
        x = jax.device_put(normal(8, 16), SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))
        y = jax.device_put(x, jax.memory.Space.Device) + 1
        close(y, np.asarray(x) + 1)
        assert np.asarray(x).dtype == np.float32 and x.nbytes == 512
        """,
    "one memory to the other": """
        d = jax.devices()[0]
        a = SingleDeviceSharding(d, memory_kind="pinned_host")
        b = SingleDeviceSharding(d, memory_kind="unpinned_host")
        v = normal(8, 16)
        x = jax.device_put(jax.device_put(v, a), b)
        assert x.sharding.memory_kind == "unpinned_host"
        same(x, v)
        same(jax.device_put(x, SingleDeviceSharding(jax.devices()[-1], memory_kind="device")), v)
        """,
    "from the host of one chip to another chip": """
        first, last = jax.devices()[0], jax.devices()[-1]
        v = normal(8, 16)
        x = jax.device_put(v, SingleDeviceSharding(first, memory_kind="pinned_host"))
        y = jax.device_put(x, SingleDeviceSharding(last))
        assert y.devices() == {last} and y.sharding.memory_kind == "device"
        same(y, v)
        """,
    "a key-value cache that lies on the host": """
        d = jax.devices()[0]
        host = SingleDeviceSharding(d, memory_kind="pinned_host")
        cache = jax.device_put(np.zeros((16, 8), np.float32), host)

        @functools.partial(jax.jit, donate_argnums=0, out_shardings=(host, None))
        def step(cache, x, i):
            here = jax.device_put(cache, jax.memory.Space.Device)
            here = lax.dynamic_update_slice(here, x[None], (i, 0))
            return here, jax.nn.softmax(here @ x) @ here

        rows = normal(4, 8)
        for i, row in enumerate(rows):
            cache, y = step(cache, row, i)
            assert cache.sharding.memory_kind == "pinned_host"
        want = np.zeros((16, 8), np.float32)
        want[:4] = rows
        same(cache, want)
        """,
    "explicit axes and memories": """
        with jax.set_mesh(mesh_of(Explicit)):
            v = normal(8, 16)
            x = jax.device_put(jax.device_put(v, P("x", "y")), jax.memory.Space.Host)
            assert jax.typeof(x).memory_space == jax.memory.Space.Host
            assert jax.typeof(x).sharding.spec == P("x", "y")
            y = jax.jit(lambda x: jax.device_put(x, jax.memory.Space.Device) * 2)(x)
            assert jax.typeof(y).sharding.spec == P("x", "y")
            close(y, v * 2)
        """,
    "mixing memories in an operation is refused": """
        x = jax.device_put(normal(8), SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))
        refused("memory", lambda: jax.jit(jnp.add)(x, jax.device_put(np.ones(8, np.float32), jax.devices()[0])))
        """,
    "a memory that is not there is refused": """
        refused("memory", lambda: jax.device_put(1.0, SingleDeviceSharding(jax.devices()[0], memory_kind="disk")))
        """,
}

LAYOUTS = {
    "the layout of an array": """
        from jax.experimental.layout import Format, Layout
        x = jax.device_put(normal(8, 16), jax.devices()[0])
        assert x.format.layout.major_to_minor == (0, 1), x.format
        """,
    "column by column": """
        from jax.experimental.layout import Format, Layout
        v = normal(8, 16)
        x = jax.device_put(v, Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0])))
        assert x.format.layout.major_to_minor == (1, 0), x.format
        same(x, v)
        close(jax.jit(lambda x: x * 2)(x), v * 2)
        """,
    "a program that takes columns": """
        from jax.experimental.layout import Format, Layout
        s = SingleDeviceSharding(jax.devices()[0])
        v = normal(8, 16)
        f = jax.jit(lambda x: x @ x.T, in_shardings=Format(Layout((1, 0)), s))
        compiled = f.lower(jax.ShapeDtypeStruct((8, 16), np.float32)).compile()
        assert compiled.input_formats[0][0].layout.major_to_minor == (1, 0), compiled.input_formats
        x = jax.device_put(v, compiled.input_formats[0][0])
        close(compiled(x), v @ v.T)
        """,
    "a program that gives columns": """
        from jax.experimental.layout import Format, Layout
        s = SingleDeviceSharding(jax.devices()[0])
        v = normal(8, 16)
        y = jax.jit(lambda x: x + 1, out_shardings=Format(Layout((1, 0)), s))(v)
        assert y.format.layout.major_to_minor == (1, 0), y.format
        close(y, v + 1)
        same(np.asarray(y)[3], (v + 1)[3])
        """,
    "the layout that the compiler prefers": """
        from jax.experimental.layout import Format, Layout
        v, w = normal(8, 16), normal(16, 8)
        f = jax.jit(lambda x, w: x @ w, in_shardings=Format(Layout.AUTO), out_shardings=Format(Layout.AUTO))
        shapes = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in (v, w)]
        compiled = f.lower(*shapes).compile()
        formats, _ = compiled.input_formats
        close(compiled(*(jax.device_put(x, format) for x, format in zip((v, w), formats))), v @ w)
        assert compiled.output_formats.layout is not None
        """,
    "split, and column by column": """
        from jax.experimental.layout import Format, Layout
        mesh = mesh_of(Auto)
        v = normal(8, 16)
        format = Format(Layout((1, 0)), NamedSharding(mesh, P("x", "y")))
        x = jax.device_put(v, format)
        assert x.format.layout.major_to_minor == (1, 0) and x.sharding.spec == P("x", "y")
        same(x, v)
        y = jax.jit(lambda x: jnp.sin(x), out_shardings=format)(x)
        assert y.format.layout.major_to_minor == (1, 0)
        close(y, np.sin(v))
        """,
    "three dimensions in every order": """
        import itertools
        from jax.experimental.layout import Format, Layout
        s = SingleDeviceSharding(jax.devices()[0])
        v = normal(2, 3, 4)
        for order in itertools.permutations(range(3)):
            x = jax.device_put(v, Format(Layout(order), s))
            assert x.format.layout.major_to_minor == order
            same(x, v)
            y = jax.jit(lambda x: x.transpose(2, 0, 1), out_shardings=Format(Layout(order), s))(x)
            assert y.format.layout.major_to_minor == order
            same(y, v.transpose(2, 0, 1))
        """,
    "donated with its layout": """
        from jax.experimental.layout import Format, Layout
        format = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
        v = normal(8, 16)
        x = jax.device_put(v, format)
        f = jax.jit(lambda x: x * 2, in_shardings=format, out_shardings=format, donate_argnums=0)
        y = f(x)
        assert x.is_deleted() and y.format.layout.major_to_minor == (1, 0)
        close(y, v * 2)
        """,
    "a constraint on a layout in a program": """
        from jax.experimental.layout import Layout, with_layout_constraint
        v = normal(8, 16)
        f = jax.jit(lambda x: with_layout_constraint(x * 2, Layout((1, 0))).T)
        close(f(v), (v * 2).T)
        """,
    "a wrong layout for a program is refused": """
        from jax.experimental.layout import Format, Layout
        s = SingleDeviceSharding(jax.devices()[0])
        f = jax.jit(lambda x: x * 2, in_shardings=Format(Layout((1, 0)), s))
        x = jax.device_put(normal(8, 16), Format(Layout((0, 1)), s))
        refused("layout", lambda: f(x))
        """,
    "a layout with tiles is refused": """
        from jax.experimental.layout import Format, Layout
        format = Format(Layout((1, 0), tiling=((8, 128),)), SingleDeviceSharding(jax.devices()[0]))
        refused("til", lambda: jax.jit(lambda x: x, out_shardings=format)(normal(8, 16)))
        """,
    "a layout on the host": """
        from jax.experimental.layout import Format, Layout
        s = SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host")
        v = normal(8, 16)
        x = jax.device_put(v, Format(Layout((1, 0)), s))
        assert x.sharding.memory_kind == "pinned_host" and x.format.layout.major_to_minor == (1, 0)
        same(x, v)
        y = jax.device_put(x, SingleDeviceSharding(jax.devices()[0]))
        same(y, v)
        """,
    "small types, column by column": """
        from jax.experimental.layout import Format, Layout
        format = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
        for dtype in [np.int8, jnp.bfloat16, np.int32, np.complex64, bool]:
            v = (np.arange(12).reshape(3, 4) % 5).astype(dtype)
            x = jax.device_put(v, format)
            same(x, v)
            same(jax.jit(lambda x: x.T, out_shardings=format)(x), v.T)
        """,
    "weights transposed by their layout once": """
        from jax.experimental.layout import Format, Layout
        w, v = normal(16, 8), normal(4, 16)
        columns = Format(Layout((1, 0)), SingleDeviceSharding(jax.devices()[0]))
        f = jax.jit(lambda w, x: x @ w, in_shardings=(columns, None))
        kept = jax.device_put(w, columns)
        for _ in range(3):
            close(f(kept, v), v @ w)
        """,
}
