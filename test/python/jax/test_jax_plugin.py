# SPDX-License-Identifier: Apache-2.0
"""Programs as JAX's users write them, each in a process of its own with JAX_PLATFORMS=tt."""

from __future__ import annotations

import textwrap

import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
from programs import fails, run_program, succeeds

HEAD = "import jax, jax.numpy as jnp, numpy as np\n"

PROGRAMS = {
    "devices": """
        (device,) = jax.devices()
        assert (device.platform, device.id, device.process_index) == ("tt", 0, 0)
        assert device.device_kind == "wormhole_b0" and device.coords == [0, 0] and device.arch == "wormhole_b0"
        assert jax.default_backend() == "tt" and jax.device_count() == 1 and jax.local_devices() == [device]
        assert jax.config.jax_platforms == "tt" and jax.devices("cpu")[0].platform == "cpu"
        assert [memory.kind for memory in device.addressable_memories()] == ["device", "pinned_host", "unpinned_host"]
        """,
    "transfers of every dtype": """
        import ml_dtypes
        names = "bool int8 int16 int32 uint8 uint16 uint32 float16 float32 complex64"
        small = "bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3b11fnuz int4 uint4"
        dtypes = [np.dtype(n) for n in names.split()] + [np.dtype(getattr(ml_dtypes, n)) for n in small.split()]
        for dtype in dtypes:
            for shape in [(), (0, 3), (1,), (2, 3), (3, 1, 40)]:
                sent = np.random.default_rng(0).integers(0, 2**7, shape).astype(dtype)
                array = jax.device_put(sent)
                back = np.asarray(array)
                assert back.dtype == dtype and back.shape == shape, (dtype, shape, back.dtype, back.shape)
                assert back.tobytes() == sent.tobytes(), (dtype, shape)
        """,
    "transfers of 64 bits": """
        jax.config.update("jax_enable_x64", True)
        for dtype in ("int64", "uint64", "float64", "complex128"):
            sent = np.array([1, 2**62 + 1, 7]).astype(dtype)
            assert np.asarray(jax.device_put(sent)).tobytes() == sent.tobytes()
        """,
    "keys of random numbers from 64-bit seeds": """
        jax.config.update("jax_enable_x64", True)
        for seed in (3, np.int64(2**31 - 1), np.int64(-1), np.int32(-5)):
            key = np.asarray(jax.random.PRNGKey(seed))
            with jax.default_device(jax.devices("cpu")[0]):
                np.testing.assert_array_equal(key, np.asarray(jax.random.PRNGKey(seed)))
        """,
    "random numbers of 64 bits": """
        jax.config.update("jax_enable_x64", True)
        def draws(data):
            a, b, c, d = jax.random.split(jax.random.wrap_key_data(data), 4)
            of_rbg = jax.random.normal(jax.random.key(5, impl="rbg"))
            floats = jax.random.uniform(a, (500,), minval=-3, maxval=5), jax.random.normal(b, (500,)), of_rbg
            return floats, (jax.random.randint(c, (9,), -7, 2**31 - 1), jax.random.choice(d, 10, (4,), replace=False))
        key = np.uint32([3, 9])
        floats, integers = jax.jit(draws)(key)
        with jax.default_device(jax.devices("cpu")[0]):
            of_cpu, integers_of_cpu = jax.jit(draws)(key)
        for found, expected in zip(floats, of_cpu):
            assert found.dtype == np.float64
            np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=1e-5, atol=1e-6)
        for found, expected in zip(integers, integers_of_cpu):
            np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
        """,
    "special floats come back as they were": """
        sent = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45], np.float32)
        assert np.asarray(jax.device_put(sent)).tobytes() == sent.tobytes()
        """,
    "layouts of arrays and programs are rows": """
        def orders(formats):
            return [f.layout.major_to_minor for f in jax.tree.leaves(formats)]
        array = jax.device_put(np.zeros((2, 3, 4), np.float32))
        assert array.format.layout.major_to_minor == (0, 1, 2)
        compiled = jax.jit(lambda a, b: (a.sum(), a @ b)).lower(array, np.zeros((4, 5), np.float32)).compile()
        assert orders(compiled.input_formats) == [(0, 1, 2), (0, 1)]
        assert orders(compiled.output_formats) == [(), (0, 1, 2)]
        assert all(s.device_set == array.devices() for s in jax.tree.leaves(compiled.output_shardings))
        """,
    "strides": """
        base = np.arange(120, dtype=np.float32).reshape(4, 5, 6)
        for view in (base.T, base[::2], base[:, ::-1], base[1:3, :, 2], np.broadcast_to(base[0], (3, 5, 6))):
            np.testing.assert_array_equal(np.asarray(jax.device_put(view)), view)
        """,
    "what the host writes later is not seen": """
        sent = np.zeros(100000, np.float32)
        array = jax.device_put(sent)
        sent[:] = 1
        assert not np.asarray(array).any()
        """,
    "jit of elementwise ops, a product and an MLP": """
        from jax import nn
        x = np.random.default_rng(0).standard_normal((4, 8)).astype(np.float32)
        w = np.random.default_rng(1).standard_normal((8, 3)).astype(np.float32)
        np.testing.assert_allclose(jax.jit(lambda x: jnp.tanh(x) * 2 + 1)(x), np.tanh(x) * 2 + 1, rtol=1e-5)
        np.testing.assert_allclose(jax.jit(jnp.matmul)(x, w), x @ w, rtol=1e-4, atol=1e-5)
        mlp = jax.jit(lambda x, w: nn.relu(x @ w) @ w.T)
        np.testing.assert_allclose(mlp(x, w), np.maximum(x @ w, 0) @ w.T, rtol=1e-4, atol=1e-4)
        """,
    "many arguments and results": """
        values = [np.float32(i) for i in range(200)]
        results = jax.jit(lambda *v: tuple(x + i for i, x in enumerate(v)))(*values)
        assert [float(r) for r in results] == [2.0 * i for i in range(200)]
        """,
    "an argument as a result, a constant and a result twice": """
        a, b, c, d = jax.jit(lambda x: (x, jnp.arange(3), x + 1, x + 1))(jnp.ones(3))
        assert a.tolist() == [1, 1, 1] and b.tolist() == [0, 1, 2] and c.tolist() == d.tolist() == [2, 2, 2]
        """,
    "results stay what they are when later calls run": """
        step = jax.jit(lambda x: x + 1)
        kept = [step(jnp.float32(i)) for i in range(20)]
        x = jnp.zeros(())
        for _ in range(20):
            x = step(x)
        assert [float(k) for k in kept] == list(range(1, 21)) and float(x) == 20
        """,
    "donation": """
        step = jax.jit(lambda x: x * 2, donate_argnums=0)
        x = jnp.arange(4.0)
        y = step(x)
        assert x.is_deleted() and y.tolist() == [0, 2, 4, 6]
        try:
            step(x)
        except Exception as error:
            assert "deleted" in str(error), error
        else:
            raise AssertionError("a donated array was taken")
        """,
    "deletion": """
        x = jnp.arange(4.0)
        before = jax.devices()[0].memory_stats()["bytes_in_use"]
        big = jax.device_put(np.zeros((1024, 1024), np.float32))
        assert jax.devices()[0].memory_stats()["bytes_in_use"] >= before + 4 * 2**20
        big.delete()
        assert big.is_deleted() and jax.devices()[0].memory_stats()["bytes_in_use"] == before
        """,
    "ahead of time": """
        shape = jax.ShapeDtypeStruct((64, 32), np.float32)
        compiled = jax.jit(lambda a, b: a @ b).lower(shape, np.ones((32, 96), np.float32)).compile()
        cost = compiled.cost_analysis()
        assert cost["flops"] >= 2 * 64 * 32 * 96 and cost["optimal_seconds"] > 0 and cost["cycles"] > 0, cost
        memory = compiled.memory_analysis()
        assert memory.argument_size_in_bytes == 4 * (64 * 32 + 32 * 96), memory
        assert memory.output_size_in_bytes == 4 * 64 * 96 and memory.generated_code_size_in_bytes > 0, memory
        assert "dot" in compiled.as_text()
        assert (np.asarray(compiled(np.ones((64, 32), np.float32), np.ones((32, 96), np.float32))) == 32).all()
        """,
    "a program as bytes": """
        from jax.experimental import serialize_executable
        compiled = jax.jit(lambda x: jnp.sin(x) + 1).lower(np.zeros(3, np.float32)).compile()
        loaded = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
        np.testing.assert_allclose(loaded(np.zeros(3, np.float32)), np.ones(3))
        """,
    "training": """
        def loss(w, x, y):
            return jnp.mean((jnp.tanh(x @ w[0]) @ w[1] - y) ** 2)
        step = jax.jit(lambda w, x, y: jax.tree.map(lambda p, g: p - 0.1 * g, w, jax.grad(loss)(w, x, y)))
        rng = np.random.default_rng(0)
        w = [jnp.asarray(rng.standard_normal(s), jnp.float32) for s in ((4, 16), (16, 1))]
        x = rng.standard_normal((32, 4)).astype(np.float32)
        y = x[:, :1] * x[:, 1:2]
        first = float(loss(w, x, y))
        for _ in range(50):
            w = step(w, x, y)
        assert float(loss(w, x, y)) < 0.5 * first
        """,
    "optax and flax": """
        import flax.linen as linen, optax
        class Net(linen.Module):
            @linen.compact
            def __call__(self, x):
                return linen.Dense(1)(linen.relu(linen.LayerNorm()(linen.Dense(16)(x))))
        x = np.random.default_rng(0).standard_normal((64, 4)).astype(np.float32)
        y = x.sum(1, keepdims=True)
        net, optimizer = Net(), optax.adam(1e-2)
        parameters = net.init(jax.random.key(0), x)
        state = optimizer.init(parameters)
        @jax.jit
        def step(parameters, state):
            value, grads = jax.value_and_grad(lambda p: jnp.mean((net.apply(p, x) - y) ** 2))(parameters)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(parameters, updates), state, value
        values = []
        for _ in range(40):
            parameters, state, value = step(parameters, state)
            values.append(float(value))
        assert values[-1] < 0.5 * values[0], values
        """,
    "several threads": """
        from concurrent.futures import ThreadPoolExecutor
        step = jax.jit(lambda x: (x @ x.T).sum())
        x = np.ones((16, 16), np.float32)
        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(lambda i: float(step(x * i)), range(40))) == [4096.0 * i * i for i in range(40)]
        """,
    "64-bit integers as far as 32 bits go": """
        jax.config.update("jax_enable_x64", True)
        x = jnp.arange(5) * 3
        assert x.dtype == np.int64 and x.tolist() == [0, 3, 6, 9, 12]
        """,
    "exported functions with symbolic shapes": """
        from jax import export
        b, l = export.symbolic_shape("b, l", constraints=["l >= 2"])
        def attention(x, w):
            scores = jnp.einsum("bld,bmd->blm", x @ w, x)
            places = jnp.arange(x.shape[1])
            y = jax.nn.softmax(jnp.where(places[:, None] >= places, scores, -1e9), -1) @ x
            first = jax.lax.dynamic_slice_in_dim(y, x.shape[1] // 2, 1, 1)
            return y.reshape(-1, 4).mean(0) * x.shape[0], first, y[:, 1:]
        made = export.export(jax.jit(attention))(
            jax.ShapeDtypeStruct((b, l, 4), jnp.float32), jax.ShapeDtypeStruct((4, 4), jnp.float32))
        assert made.platforms == ("tt",)
        again = export.deserialize(made.serialize())
        w = np.eye(4, dtype=np.float32)
        for sizes in [(1, 2), (2, 17), (64, 3)]:
            x = np.random.default_rng(0).standard_normal((*sizes, 4), np.float32)
            with jax.default_device(jax.devices("cpu")[0]):
                expected = jax.tree.map(np.asarray, attention(jnp.asarray(x), jnp.asarray(w)))
            for found in (made.call(x, w), jax.jit(again.call)(x, w)):
                jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5), found, expected)
        try:
            made.call(x[:, :1], w)
        except ValueError as error:
            assert "constraint l >= 2" in str(error), error
        else:
            raise AssertionError("one element was taken for two")
        """,
}

ERRORS = {
    "an integer that the chip does not hold": (
        """
        jax.config.update("jax_enable_x64", True)
        jax.jit(lambda x: x + 1)(np.array([1, 2**40]))
        """,
        "argument 0 of jit__lambda is i64 and has the value 1099511627776 at element 1",
    ),
    "an op that does not lower": ("jnp.fft.fft(jnp.arange(5000.0))", "transforms 5000 elements; expected 1 to 4096"),
    "no room": ("jax.jit(lambda: jnp.zeros((2**20, 2**12)))()", "RESOURCE_EXHAUSTED"),
    "an option of the compiler that is not there": (
        'jax.jit(lambda x: x + 1, compiler_options={"no-such-option": "1"})(1.0)',
        "no-such-option",
    ),
}  # fmt: skip


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", PROGRAMS)
def test_runs(name):
    succeeds(HEAD + textwrap.dedent(PROGRAMS[name]))


@pytest.mark.long
@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", ERRORS)
def test_says_what_is_wrong(name):
    program, message = ERRORS[name]
    assert message in fails(HEAD + textwrap.dedent(program))


@pytest.mark.long
@pytest.mark.parametrize(("mesh", "count"), [("2x2", 4), ("n300", 2), ("1x1", 1)])
def test_the_mesh_of_the_environment(mesh, count):
    printed = succeeds("import jax; print(len(jax.devices()), jax.devices()[-1].coords)", TTMLIR_MESH=mesh)
    assert printed.startswith(f"{count} ")


@pytest.mark.long
@pytest.mark.parametrize(
    ("variable", "value", "message"),
    [("TTMLIR_MESH", "n999", "n999"), ("TTMLIR_MESH", "0x2", "1 to 1024"), ("TTMLIR_ARCH", "abacus", "abacus")],
)
def test_a_mesh_that_is_not_there(variable, value, message):
    stderr = fails("import jax; jax.devices()", **{variable: value})
    assert message in stderr and variable in stderr


@pytest.mark.long
def test_another_chip():
    assert "blackhole 3.0" in succeeds(
        "import jax, jax.numpy as jnp; print(jax.devices()[0].device_kind, jnp.ones(3).sum())", TTMLIR_ARCH="blackhole"
    )


@pytest.mark.long
def test_two_devices():
    succeeds(
        """
        import jax, jax.numpy as jnp, numpy as np
        first, second = jax.devices()
        x = jax.device_put(np.arange(4, dtype=np.float32), second)
        y = jax.jit(lambda v: v * 2)(x)
        assert y.devices() == {second} and y.tolist() == [0, 2, 4, 6]
        z = jax.device_put(y, first)
        assert z.devices() == {first} and (z + 1).tolist() == [1, 3, 5, 7]
        with jax.default_device(second):
            assert jnp.ones(2).devices() == {second}
        try:
            z + y
        except ValueError as error:
            assert "incompatible devices" in str(error), error
        else:
            raise AssertionError("arrays of two chips were added")
        """,
        TTMLIR_MESH="1x2",
    )


@pytest.mark.long
def test_jax_keeps_compiled_programs(tmp_path):
    program = """
        import jax, numpy as np, logging
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
        jax.config.update("jax_persistent_cache_min_entry_size_bytes", 0)
        found = []
        jax.monitoring.register_event_listener(lambda name, **_: found.append(name))
        print(float(jax.jit(lambda x: x * 3 + 1)(np.float32(2))))
        print(sum(name == "/jax/compilation_cache/cache_hits" for name in found))
        """
    cache = {"JAX_COMPILATION_CACHE_DIR": str(tmp_path / "cache")}
    assert succeeds(program, **cache).split() == ["7.0", "0"]
    value, hits = succeeds(program, **cache).split()
    assert value == "7.0" and int(hits) > 0


@pytest.mark.long
def test_jax_computes_on_the_cpu_unless_chips_are_requested():
    done = run_program(
        """
        import jax, jax.numpy as jnp
        assert jax.default_backend() == "cpu"
        (chip,) = jax.devices("tt")
        assert jax.device_put(jnp.ones(3), chip).devices() == {chip}
        """,
        JAX_PLATFORMS="",
    )
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.long
def test_without_the_platform_jax_is_as_it_was():
    assert "cpu 2.0" in succeeds(
        "import jax, jax.numpy as jnp; print(jax.default_backend(), jnp.float32(1) + 1)", JAX_PLATFORMS="cpu"
    )
