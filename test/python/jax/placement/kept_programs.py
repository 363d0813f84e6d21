# SPDX-License-Identifier: Apache-2.0
"""Programs that keep something: compiled programs, profiles, figures, checkpoints."""

CACHES = {
    "a folder of compiled programs": """
        with tempfile.TemporaryDirectory() as folder:
            from jax.experimental.compilation_cache import compilation_cache
            settings = {"jax_compilation_cache_dir": folder, "jax_persistent_cache_min_compile_time_secs": 0,
                        "jax_persistent_cache_min_entry_size_bytes": 0}
            before = {name: getattr(jax.config, name) for name in settings}
            for name, value in settings.items():
                jax.config.update(name, value)
            compilation_cache.reset_cache()
            events = []
            jax.monitoring.register_event_listener(lambda name, **_: events.append(name))
            try:
                for turn in range(2):
                    jax.clear_caches()
                    y = jax.jit(lambda x: jnp.tanh(x) * 3.25)(np.ones(16, np.float32))
                    close(y, np.full(16, np.tanh(np.float32(1)) * 3.25))
                kept = [p.name for p in pathlib.Path(folder).iterdir() if p.name.endswith("-cache")]
                assert any("lambda" in name for name in kept), kept
                assert "/jax/compilation_cache/cache_hits" in events and "/jax/compilation_cache/cache_misses" in events
            finally:
                for name, value in before.items():
                    jax.config.update(name, value)
                compilation_cache.reset_cache()
        """,
    "the same cache key for the same program": """
        def lowered(): return jax.jit(lambda x: jnp.cos(x) + 1).lower(jax.ShapeDtypeStruct((8,), np.float32))
        one, two = (lowered().compile().runtime_executable().fingerprint for _ in range(2))
        if jax.default_backend() != "cpu":  # whose programs have a number of their own in it
            assert one == two
            other = jax.jit(lambda x: jnp.cos(x) + 2).lower(jax.ShapeDtypeStruct((8,), np.float32)).compile()
            assert other.runtime_executable().fingerprint != one
        """,
    "a compiled program as bytes": """
        import pickle
        from jax.experimental import serialize_executable
        v = normal(8, 16)
        compiled = jax.jit(lambda x, s: {"a": x * s, "b": (x.sum(), x.T)}).lower(v, np.float32(2)).compile()
        data = pickle.dumps(serialize_executable.serialize(compiled))
        again = serialize_executable.deserialize_and_load(*pickle.loads(data), execution_devices=jax.devices()[:1])
        got = again(v, np.float32(2))
        close(got["a"], v * 2)
        close(got["b"][0], v.sum(), 1e-4)
        same(got["b"][1], v.T)
        """,
    "a compiled program of all chips as bytes": """
        from jax.experimental import serialize_executable
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        v = normal(8, 16)
        x = jax.device_put(v, s)
        compiled = jax.jit(lambda x: jnp.tanh(x @ x.T), out_shardings=NamedSharding(s.mesh, P("y"))).lower(x).compile()
        again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
        y = again(x)
        assert y.sharding.spec == P("y")
        close(y, np.tanh(v @ v.T))
        """,
    "an exported program as bytes": """
        from jax import export
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        v = normal(8, 16)
        function = jax.jit(lambda x: jnp.sin(x) @ x.T, in_shardings=s)
        exported = export.export(function)(jax.ShapeDtypeStruct((8, 16), np.float32))
        again = export.deserialize(exported.serialize())
        assert again.nr_devices == COUNT
        x = jax.device_put(v, s)
        close(jax.jit(again.call)(x), np.sin(v) @ v.T)
        """,
    "compiled once for equal arguments": """
        count = 0
        @jax.jit
        def f(x):
            global count
            count += 1
            return x * 2
        s = NamedSharding(mesh_of(Auto), P("x"))
        for _ in range(3):
            f(jax.device_put(np.ones((8, 2), np.float32), s))
        assert count == 1 and f._cache_size() == 1
        """,
    "options of the compiler": """
        f = jax.jit(lambda x: x + 1)
        lowered = f.lower(np.ones(4, np.float32))
        assert lowered.as_text() and lowered.compile().as_text()
        refused("no_such_option", lambda: lowered.compile(compiler_options={"no_such_option": "1"}))
        """,
}

ANALYSES = {
    "the cost of a program": """
        compiled = jax.jit(lambda x: x @ x).lower(np.ones((64, 64), np.float32)).compile()
        cost = compiled.cost_analysis()
        assert cost["flops"] >= 2 * 64**3 and cost["bytes accessed"] > 0, cost
        """,
    "the cost of a split program": """
        s = NamedSharding(mesh_of(Auto), P("x", None))
        shape = jax.ShapeDtypeStruct((64, 64), np.float32, sharding=s)
        compiled = jax.jit(lambda x: jnp.tanh(x) @ x.T).lower(shape).compile()
        assert compiled.cost_analysis()["flops"] > 0
        """,
    "the cost before compiling": """
        cost = jax.jit(lambda x: x @ x).lower(np.ones((64, 64), np.float32)).cost_analysis()
        assert cost is None or cost["flops"] == 2 * 64**3, cost  # JAX asks no platform that is a plug-in
        """,
    "the memory of a program": """
        compiled = jax.jit(lambda x: (x @ x, x.sum())).lower(np.ones((64, 64), np.float32)).compile()
        memory = compiled.memory_analysis()
        assert memory.argument_size_in_bytes == 4 * 64**2
        assert 4 * 64**2 < memory.output_size_in_bytes <= 4 * 64**2 + 64  # with a table of pointers on some platforms
        assert memory.temp_size_in_bytes >= 0 and memory.alias_size_in_bytes == 0
        """,
    "the memory of a program that takes its argument over": """
        compiled = jax.jit(lambda x: x * 2, donate_argnums=0).lower(np.ones((64, 64), np.float32)).compile()
        memory = compiled.memory_analysis()
        assert memory.alias_size_in_bytes in (0, 4 * 64**2), memory  # 0 where the argument is freed after the run
        x = jax.device_put(np.ones((64, 64), np.float32), jax.devices()[0])
        close(compiled(x), np.full((64, 64), 2))
        assert x.is_deleted()
        """,
    "the text and the shardings of a program": """
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        shape = jax.ShapeDtypeStruct((8, 16), np.float32, sharding=s)
        compiled = jax.jit(lambda x: x * 2 + x.sum()).lower(shape).compile()
        assert "HloModule" in compiled.as_text()
        assert compiled.input_shardings[0][0].is_equivalent_to(s, 2)
        assert compiled.output_shardings.is_equivalent_to(s, 2)
        """,
    "shapes and trees of a program": """
        compiled = jax.jit(lambda x, *, k: {"y": x + k}).lower(np.ones(4, np.float32), k=np.float32(1)).compile()
        assert compiled.in_avals[0][0].shape == (4,) and list(compiled.out_tree.children())
        assert compiled.out_info["y"].shape == (4,)
        close(compiled(np.ones(4, np.float32), k=np.float32(1))["y"], np.full(4, 2))
        """,
    "a profile of a program": """
        f = jax.jit(lambda x: jnp.tanh(x @ x))
        x = np.ones((64, 64), np.float32)
        f(x).block_until_ready()
        with tempfile.TemporaryDirectory() as folder:
            with jax.profiler.trace(folder):
                with jax.profiler.TraceAnnotation("my step"), jax.profiler.StepTraceAnnotation("train", step_num=3):
                    f(x).block_until_ready()
            (path,) = pathlib.Path(folder).rglob("*.xplane.pb")
            data = jax.profiler.ProfileData.from_file(str(path))
            names = [e.name for plane in data.planes for line in plane.lines for e in line.events]
            assert "my step" in names and any("lambda" in name for name in names), names[:40]
        """,
    "a profile that is started and stopped": """
        f = jax.jit(lambda x: x.sum())
        with tempfile.TemporaryDirectory() as folder:
            options = jax.profiler.ProfileOptions()
            options.host_tracer_level = 2
            jax.profiler.start_trace(folder, create_perfetto_trace=True, profiler_options=options)
            f(np.ones(8, np.float32)).block_until_ready()
            jax.profiler.stop_trace()
            assert list(pathlib.Path(folder).rglob("perfetto_trace.json.gz"))
        """,
    "a profile of live arrays": """
        x = jax.device_put(np.ones((256, 256), np.float32), jax.devices()[0])
        with tempfile.TemporaryDirectory() as folder:
            jax.profiler.save_device_memory_profile(os.path.join(folder, "memory.prof"))
            assert pathlib.Path(folder, "memory.prof").stat().st_size > 0
        assert any(a is x for a in jax.live_arrays())
        """,
    "annotated functions": """
        @jax.profiler.annotate_function
        def f(x):
            with jax.named_scope("inner"):
                return x + 1
        close(jax.jit(f)(np.ones(4, np.float32)), np.full(4, 2))
        assert "inner" in jax.jit(f).lower(np.ones(4, np.float32)).as_text(debug_info=True)
        """,
}

CHECKPOINTS = {
    "an orbax checkpoint, written on one mesh and read on another": """
        import orbax.checkpoint as ocp
        one = mesh_of(Auto)
        other = jax.make_mesh((COUNT,), ("z",), axis_types=(Auto,))
        v, w = normal(8, 16), normal(16)
        tree = {"v": jax.device_put(v, NamedSharding(one, P("x", "y"))),
                "w": jax.device_put(w, NamedSharding(one, P("y"))), "step": 3}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "saved")
            with ocp.StandardCheckpointer() as checkpointer:
                checkpointer.save(path, tree)
                checkpointer.wait_until_finished()
                like = {"v": jax.ShapeDtypeStruct((8, 16), np.float32, sharding=NamedSharding(other, P(None, "z"))),
                        "w": jax.ShapeDtypeStruct((16,), np.float32, sharding=NamedSharding(other, P())), "step": 0}
                got = checkpointer.restore(path, like)
            assert got["v"].sharding.spec == P(None, "z") and got["step"] == 3
            same(got["v"], v)
            same(got["w"], w)
        """,
    "an orbax checkpoint of one chip, read on all": """
        import orbax.checkpoint as ocp
        v = normal(8, 16)
        x = jax.device_put(v, jax.devices()[-1])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "saved")
            with ocp.StandardCheckpointer() as checkpointer:
                checkpointer.save(path, [x])
                checkpointer.wait_until_finished()
                s = NamedSharding(mesh_of(Auto), P("y", "x"))
                (got,) = checkpointer.restore(path, [jax.ShapeDtypeStruct((8, 16), np.float32, sharding=s)])
            assert got.sharding == s
            close(jax.jit(lambda x: x @ x.T)(got), v @ v.T)
        """,
    "orbax keeps the last checkpoints of a training": """
        import optax, orbax.checkpoint as ocp
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        params = jax.device_put(normal(8, 16), s)
        optimizer = optax.adam(1e-1)
        state = jax.jit(optimizer.init)(params)

        @jax.jit
        def step(params, state):
            grads = jax.grad(lambda p: jnp.sum((p - 1) ** 2))(params)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(params, updates), state

        with tempfile.TemporaryDirectory() as folder:
            with ocp.CheckpointManager(folder, options=ocp.CheckpointManagerOptions(max_to_keep=2)) as manager:
                for i in range(4):
                    params, state = step(params, state)
                    manager.save(i, args=ocp.args.StandardSave({"params": params, "state": state}))
                manager.wait_until_finished()
                assert manager.all_steps() == [2, 3]
                got = manager.restore(3, args=ocp.args.StandardRestore({"params": params, "state": state}))
            same(got["params"], params)
            assert got["params"].sharding == s
            jax.tree.map(same, got["state"], state)
        """,
    "an orbax checkpoint of arrays on the host": """
        import orbax.checkpoint as ocp
        s = NamedSharding(mesh_of(Auto), P("x", "y"), memory_kind="pinned_host")
        v = normal(8, 16)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "saved")
            with ocp.StandardCheckpointer() as checkpointer:
                checkpointer.save(path, {"v": jax.device_put(v, s)})
                checkpointer.wait_until_finished()
                got = checkpointer.restore(path, {"v": jax.ShapeDtypeStruct((8, 16), np.float32, sharding=s)})
            assert got["v"].sharding.memory_kind == "pinned_host"
            same(got["v"], v)
        """,
    "an orbax checkpoint of small types and of keys": """
        import orbax.checkpoint as ocp
        s = NamedSharding(mesh_of(Auto), P("x"))
        tree = {"a": jax.device_put(np.arange(16).reshape(8, 2).astype(jnp.bfloat16), s),
                "b": jax.device_put((np.arange(8) % 7).astype(np.int8), s)}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "saved")
            with ocp.StandardCheckpointer() as checkpointer:
                checkpointer.save(path, tree)
                checkpointer.wait_until_finished()
                got = checkpointer.restore(path, jax.tree.map(
                    lambda x: jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=x.sharding), tree))
            jax.tree.map(same, got, tree)
        """,
    "flax writes and reads its state": """
        import flax.linen as nn
        from flax import serialization
        model = nn.Dense(8)
        params = model.init(jax.random.key(0), np.ones((2, 16), np.float32))
        split = jax.device_put(params, NamedSharding(mesh_of(Auto), P()))
        again = serialization.from_bytes(params, serialization.to_bytes(split))
        jax.tree.map(same, again, params)
        """,
    "the processes that there are": """
        from jax.experimental import multihost_utils
        assert jax.process_count() == 1 and jax.process_index() == 0
        assert jax.local_devices() == jax.devices() and jax.local_device_count() == COUNT
        v = normal(8, 16)
        same(multihost_utils.process_allgather(v, tiled=True), v)
        same(multihost_utils.broadcast_one_to_all(v), v)
        multihost_utils.sync_global_devices("here")
        s = NamedSharding(mesh_of(Auto), P("x", "y"))
        x = jax.make_array_from_process_local_data(s, v)
        same(x, v)
        assert x.is_fully_addressable
        same(multihost_utils.global_array_to_host_local_array(x, s.mesh, P("x", "y")), v)
        """,
}
