# SPDX-License-Identifier: Apache-2.0
"""Programs as JAX's users write them: what they compute is checked with NumPy or a closed form.

Each begins with `import jax, jax.numpy as jnp, numpy as np`.
"""

from __future__ import annotations

TRAINING = {
    "optax: SGD with momentum, a schedule and clipping finds the line": """
        import optax
        x = np.random.default_rng(0).standard_normal((256, 3)).astype(np.float32)
        w = np.float32([1.5, -2.0, 0.5])
        y = x @ w + 0.3
        schedule = optax.cosine_decay_schedule(0.3, 400)
        optimizer = optax.chain(optax.clip_by_global_norm(5.0), optax.sgd(schedule, momentum=0.9))
        parameters = {"w": jnp.zeros(3), "b": jnp.zeros(())}
        state = optimizer.init(parameters)
        @jax.jit
        def step(parameters, state):
            loss = lambda p: jnp.mean((x @ p["w"] + p["b"] - y) ** 2)
            updates, state = optimizer.update(jax.grad(loss)(parameters), state, parameters)
            return optax.apply_updates(parameters, updates), state
        for _ in range(200):
            parameters, state = step(parameters, state)
        np.testing.assert_allclose(parameters["w"], w, atol=1e-3)
        np.testing.assert_allclose(parameters["b"], 0.3, atol=1e-3)
        """,
    "optax: AdamW's first step is the learning rate": """
        import optax
        optimizer = optax.adamw(1e-2, weight_decay=0.1)
        p, g = jnp.float32([1.0, -2.0, 3.0]), jnp.float32([0.5, 0.1, -7.0])
        updates, _ = jax.jit(optimizer.update)(g, optimizer.init(p), p)
        np.testing.assert_allclose(updates, -1e-2 * (np.sign(g) + 0.1 * np.asarray(p)), rtol=1e-4)
        """,
    "optax: losses": """
        import optax
        rng = np.random.default_rng(0)
        logits, labels = rng.standard_normal((6, 4)).astype(np.float32), np.array([0, 3, 1, 1, 2, 0])
        found = jax.jit(optax.softmax_cross_entropy_with_integer_labels)(logits, labels)
        shifted = logits - logits.max(1, keepdims=True)
        expected = np.log(np.exp(shifted).sum(1)) - shifted[np.arange(6), labels]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        np.testing.assert_allclose(optax.huber_loss(jnp.float32([0.5, 3.0])), [0.125, 2.5], rtol=1e-6)
        """,
    "flax.linen: batch normalisation keeps running statistics": """
        import flax.linen as nn
        class Net(nn.Module):
            @nn.compact
            def __call__(self, x, train):
                return nn.BatchNorm(use_running_average=not train, momentum=0.9)(x)
        x = np.random.default_rng(0).normal(3.0, 2.0, (512, 4)).astype(np.float32)
        net = Net()
        variables = net.init(jax.random.key(0), x, train=True)
        y, changed = jax.jit(lambda v, x: net.apply(v, x, train=True, mutable=["batch_stats"]))(variables, x)
        np.testing.assert_allclose(y.mean(0), np.zeros(4), atol=1e-4)
        np.testing.assert_allclose(np.asarray(y).std(0), np.ones(4), atol=1e-3)
        mean = changed["batch_stats"]["BatchNorm_0"]["mean"]
        np.testing.assert_allclose(mean, 0.1 * x.mean(0), rtol=1e-4)
        """,
    "flax.linen: dropout scales what it keeps": """
        import flax.linen as nn
        x = jnp.ones((200, 50))
        y = nn.Dropout(0.25, deterministic=False).apply({}, x, rngs={"dropout": jax.random.key(1)})
        values = np.unique(np.asarray(y))
        np.testing.assert_allclose(values, [0.0, 1 / 0.75], rtol=1e-6)
        assert abs(float((y == 0).mean()) - 0.25) < 0.02
        """,
    "flax.linen: an LSTM is run over time": """
        import flax.linen as nn
        x = np.random.default_rng(0).standard_normal((2, 7, 3)).astype(np.float32)
        layer = nn.RNN(nn.LSTMCell(features=5))
        variables = layer.init(jax.random.key(0), x)
        y = jax.jit(layer.apply)(variables, x)
        p = jax.tree.map(np.asarray, variables["params"]["cell"])
        sigmoid = lambda v: 1 / (1 + np.exp(-v))
        h = c = np.zeros((2, 5), np.float32)
        for t in range(7):
            gate = lambda n: x[:, t] @ p["i" + n]["kernel"] + h @ p["h" + n]["kernel"] + p["h" + n]["bias"]
            c = sigmoid(gate("f")) * c + sigmoid(gate("i")) * np.tanh(gate("g"))
            h = sigmoid(gate("o")) * np.tanh(c)
            np.testing.assert_allclose(y[:, t], h, rtol=1e-4, atol=1e-5)
        """,
    "flax.nnx: a module that is trained in place": """
        import optax
        from flax import nnx
        class Net(nnx.Module):
            def __init__(self, rngs):
                self.first, self.second = nnx.Linear(2, 16, rngs=rngs), nnx.Linear(16, 1, rngs=rngs)
            def __call__(self, x):
                return self.second(jnp.tanh(self.first(x)))
        net = Net(nnx.Rngs(0))
        optimizer = nnx.Optimizer(net, optax.adam(2e-2), wrt=nnx.Param)
        x = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]])
        y = np.float32([[0], [1], [1], [0]])
        @nnx.jit
        def step(net, optimizer):
            loss, grads = nnx.value_and_grad(lambda net: jnp.mean((net(x) - y) ** 2))(net)
            optimizer.update(net, grads)
            return loss
        for _ in range(250):
            loss = step(net, optimizer)
        assert float(loss) < 0.01, loss
        assert (np.asarray(net(x) > 0.5) == (y > 0.5)).all()
        """,
    "flax.linen: attention with a cache gives what it gives without": """
        import flax.linen as nn
        x = np.random.default_rng(0).standard_normal((1, 6, 8)).astype(np.float32)
        whole = nn.SelfAttention(num_heads=2, qkv_features=8, decode=False)
        variables = whole.init(jax.random.key(0), x)
        expected = whole.apply(variables, x, mask=nn.make_causal_mask(np.ones((1, 6))))
        one = nn.SelfAttention(num_heads=2, qkv_features=8, decode=True)
        cache = one.init(jax.random.key(0), x)["cache"]
        step = jax.jit(lambda cache, x: one.apply({**variables, "cache": cache}, x, mutable=["cache"]))
        for t in range(6):
            y, changed = step(cache, x[:, t : t + 1])
            cache = changed["cache"]
            np.testing.assert_allclose(y[:, 0], expected[:, t], rtol=1e-4, atol=1e-5)
        """,
    "gradient accumulation with scan": """
        x = np.random.default_rng(0).standard_normal((8, 16, 3)).astype(np.float32)
        y = np.random.default_rng(1).standard_normal((8, 16)).astype(np.float32)
        w = jnp.float32([0.1, -0.2, 0.3])
        grad = jax.grad(lambda w, x, y: jnp.mean((x @ w - y) ** 2))
        def add(total, batch):
            return total + grad(w, *batch), None
        total, _ = jax.jit(lambda: jax.lax.scan(add, jnp.zeros(3), (x, y)))()
        residual = x.reshape(-1, 3) @ np.asarray(w) - y.reshape(-1)
        np.testing.assert_allclose(total / 8, 2 * residual @ x.reshape(-1, 3) / 128, rtol=1e-4, atol=1e-5)
        """,
    "a training state is written and read again": """
        import pickle, optax
        p = {"layers": [jnp.arange(6.0).reshape(2, 3), jnp.ones(3, jnp.bfloat16)], "step": 3}
        state = optax.adam(1e-3).init(p["layers"])
        bytes_ = pickle.dumps(jax.device_get((p, state)))
        restored = jax.tree.map(jnp.asarray, pickle.loads(bytes_))
        same = jax.tree.map(lambda a, b: bool((jnp.asarray(a) == b).all()), (p, state), restored)
        assert all(jax.tree.leaves(same)) and restored[0]["layers"][1].dtype == jnp.bfloat16
        """,
}

TRANSFORMATIONS = {
    "remat computes the same gradient again": """
        layer = lambda x, w: jnp.tanh(x @ w)
        w = jnp.asarray(np.random.default_rng(0).standard_normal((4, 4)) / 2, jnp.float32)
        def loss(w, wrap):
            x = jnp.ones((2, 4))
            for _ in range(3):
                x = wrap(layer)(x, w)
            return x.sum()
        plain = jax.jit(jax.grad(lambda w: loss(w, lambda f: f)))(w)
        policy = jax.checkpoint_policies.dots_saveable
        for wrap in (jax.checkpoint, lambda f: jax.checkpoint(f, policy=policy)):
            np.testing.assert_allclose(jax.jit(jax.grad(lambda w: loss(w, wrap)))(w), plain, rtol=1e-5, atol=1e-6)
        a, x = np.asarray(w, np.float64), np.ones((2, 4))
        h = [x]
        for _ in range(3):
            h.append(np.tanh(h[-1] @ a))
        g, total = np.ones((2, 4)), 0
        for before, after in reversed(list(zip(h, h[1:]))):
            g = g * (1 - after**2)
            total, g = total + before.T @ g, g @ a.T
        np.testing.assert_allclose(plain, total, rtol=1e-4, atol=1e-5)
        """,
    "custom_vjp and custom_jvp": """
        @jax.custom_vjp
        def clipped(x):
            return x**2
        clipped.defvjp(lambda x: (x**2, x), lambda x, g: (jnp.clip(2 * x * g, -1, 1),))
        np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(clipped)))(jnp.float32([0.2, -3.0, 5.0])), [0.4, -1, 1])
        @jax.custom_jvp
        def log1pexp(x):
            return jnp.log(1 + jnp.exp(x))
        log1pexp.defjvp(lambda p, t: (log1pexp(p[0]), (1 - 1 / (1 + jnp.exp(p[0]))) * t[0]))
        np.testing.assert_allclose(jax.jit(jax.grad(log1pexp))(100.0), 1.0)
        """,
    "jacobians and Hessians of a quadratic form": """
        a = np.random.default_rng(0).standard_normal((4, 4)).astype(np.float32)
        x = np.random.default_rng(1).standard_normal(4).astype(np.float32)
        form = lambda x: x @ a @ x
        np.testing.assert_allclose(jax.jit(jax.hessian(form))(x), a + a.T, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(jax.jit(jax.jacrev(lambda x: a @ x))(x), a, rtol=1e-5)
        np.testing.assert_allclose(jax.jit(jax.jacfwd(lambda x: jnp.sin(a @ x)))(x), np.cos(a @ x)[:, None] * a,
                                   rtol=1e-4, atol=1e-5)
        value, product = jax.jvp(jax.grad(form), (x,), (jnp.ones(4),))
        np.testing.assert_allclose(product, (a + a.T) @ np.ones(4), rtol=1e-4, atol=1e-5)
        """,
    "gradients of each example": """
        x = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
        y = np.random.default_rng(1).standard_normal(5).astype(np.float32)
        w = np.float32([1, 2, 3])
        grads = jax.jit(jax.vmap(jax.grad(lambda w, x, y: (x @ w - y) ** 2), (None, 0, 0)))(w, x, y)
        np.testing.assert_allclose(grads, 2 * (x @ w - y)[:, None] * x, rtol=1e-4, atol=1e-5)
        """,
    "vmap over axes of trees, with names": """
        tree = {"a": jnp.arange(6.0).reshape(2, 3), "b": jnp.arange(3.0)}
        out = jax.vmap(lambda t: t["a"] * t["b"], in_axes=({"a": 1, "b": 0},), out_axes=1)(tree)
        np.testing.assert_allclose(out, np.arange(6.0).reshape(2, 3) * np.arange(3.0))
        mean = jax.vmap(lambda x: x - jax.lax.pmean(x, "i"), axis_name="i")(jnp.arange(4.0))
        np.testing.assert_allclose(mean, np.arange(4.0) - 1.5)
        """,
    "associative_scan of matrices": """
        matrices = np.random.default_rng(0).standard_normal((9, 3, 3)).astype(np.float32) / 2
        found = jax.jit(lambda m: jax.lax.associative_scan(jnp.matmul, m))(matrices)
        expected = [matrices[0].astype(np.float64)]
        for m in matrices[1:]:
            expected.append(expected[-1] @ m)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)
        """,
    "trees and ravel_pytree": """
        from jax.flatten_util import ravel_pytree
        tree = {"w": jnp.ones((2, 2)), "b": (jnp.zeros(3), None, 2.0)}
        flat, restore = ravel_pytree(tree)
        assert flat.tolist() == [0, 0, 0, 2, 1, 1, 1, 1]
        twice = restore(2 * flat)
        assert twice["b"][2] == 4 and twice["b"][1] is None and twice["w"].shape == (2, 2)
        assert jax.tree.reduce(lambda a, b: a + b, jax.tree.map(jnp.sum, tree)) == 6
        paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(tree)]
        assert paths == ["['b'][0]", "['b'][2]", "['w']"], paths
        """,
    "scan with unrolling, and what it carries as a tree": """
        def step(state, x):
            state = {"n": state["n"] + 1, "sum": state["sum"] + x}
            return state, state["sum"] / state["n"]
        start = {"n": jnp.int32(0), "sum": jnp.float32(0)}
        x = np.arange(10, dtype=np.float32) ** 2
        for unroll in (1, 3, True):
            last, means = jax.lax.scan(step, start, x, unroll=unroll)
            assert int(last["n"]) == 10
            np.testing.assert_allclose(means, np.cumsum(x) / np.arange(1, 11), rtol=1e-6)
        """,
    "implicit differentiation of a fixed point": """
        from functools import partial
        @partial(jax.custom_vjp, nondiff_argnums=(0,))
        def fixed(f, a):
            return jax.lax.while_loop(lambda s: jnp.abs(s[0] - s[1]) > 1e-6, lambda s: (s[1], f(a, s[1])),
                                      (jnp.float32(1e9), a))[1]
        def forward(f, a):
            x = fixed(f, a)
            return x, (a, x)
        def backward(f, saved, g):
            a, x = saved
            dx = jax.grad(f, 1)(a, x)
            return (g * jax.grad(f, 0)(a, x) / (1 - dx),)
        fixed.defvjp(forward, backward)
        newton = lambda a, x: 0.5 * (x + a / x)
        value, slope = jax.jit(jax.value_and_grad(lambda a: fixed(newton, a)))(jnp.float32(7))
        np.testing.assert_allclose((value, slope), (7**0.5, 0.5 / 7**0.5), rtol=1e-4)
        """,
    "linearize, vjp, jvp and linear_transpose": """
        f = lambda x: jnp.stack([x[0] * x[1], x[0] + x[1] ** 2])
        x, t = jnp.float32([2, 3]), jnp.float32([1, -1])
        j = np.array([[3, 2], [1, 6]])
        np.testing.assert_allclose(jax.linearize(f, x)[1](t), j @ t)
        np.testing.assert_allclose(jax.vjp(f, x)[1](t)[0], j.T @ t)
        np.testing.assert_allclose(jax.linear_transpose(lambda x: x * 3, x)(t)[0], 3 * t)
        """,
    "while_loop over several values, and cond of both kinds": """
        def gcd(a, b):
            return jax.lax.while_loop(lambda s: s[1] != 0, lambda s: (s[1], s[0] % s[1]), (a, b))[0]
        import math
        pairs = np.random.default_rng(0).integers(1, 10**6, (20, 2)).astype(np.int32)
        assert jax.jit(jax.vmap(gcd))(pairs[:, 0], pairs[:, 1]).tolist() == [math.gcd(*p) for p in pairs.tolist()]
        @jax.jit
        def collatz(n):
            step = lambda s: (jax.lax.cond(s[0] % 2 == 0, lambda n: n // 2, lambda n: 3 * n + 1, s[0]), s[1] + 1)
            return jax.lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]
        assert [int(collatz(n)) for n in (1, 6, 27, 97)] == [0, 8, 111, 118]
        """,
}

RUNNING = {
    "export and deserialise": """
        from jax import export
        f = jax.jit(lambda x: jnp.sin(x) * 2)
        exported = export.export(f)(jax.ShapeDtypeStruct((3,), np.float32))
        assert exported.platforms == ("tt",)
        again = export.deserialize(exported.serialize())
        np.testing.assert_allclose(again.call(jnp.arange(3.0)), 2 * np.sin(np.arange(3)), rtol=1e-5)
        """,
    "export with a symbolic batch": """
        from jax import export
        (batch,) = export.symbolic_shape("b")
        exported = export.export(jax.jit(lambda x: x @ x.T))(jax.ShapeDtypeStruct((batch, 2), np.float32))
        for n in (1, 5):
            x = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
            np.testing.assert_allclose(exported.call(x), x @ x.T)
        """,
    "cost and memory before anything runs": """
        compiled = jax.jit(lambda a: a @ a).lower(jax.ShapeDtypeStruct((512, 512), np.float32)).compile()
        assert compiled.cost_analysis()["flops"] >= 2 * 512**3
        assert compiled.memory_analysis().output_size_in_bytes == 4 * 512**2
        """,
    "donated arrays in a loop leave no memory behind": """
        step = jax.jit(lambda state: jax.tree.map(lambda v: v * 0.5, state), donate_argnums=0)
        state = {"a": jnp.ones((256, 256)), "b": jnp.ones(1000)}
        state = step(state)
        (device,) = jax.devices("tt")
        before = device.memory_stats()["bytes_in_use"]
        for _ in range(10):
            state = step(state)
        assert device.memory_stats()["bytes_in_use"] == before
        assert float(state["a"][0, 0]) == 0.5**11
        """,
    "debug.print, in a loop and with what it is told": """
        import contextlib, io
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            @jax.jit
            def f(x):
                def body(i, x):
                    jax.debug.print("step {i}: {x}", i=i, x=x, ordered=True)
                    return x * 2
                return jax.lax.fori_loop(0, 3, body, x)
            f(jnp.float32(1.5)).block_until_ready()
            jax.debug.print("outside {}", jnp.arange(3))
            jax.effects_barrier()
        lines = out.getvalue().splitlines()
        assert lines == ["step 0: 1.5", "step 1: 3.0", "step 2: 6.0", "outside [0 1 2]"], lines
        """,
    "Ctrl-C ends a program where it is, and arrays stay": """
        import os, signal, threading, time

        def loop(callback):
            def turn(_, x):
                if callback:
                    jax.debug.callback(lambda x: None, x)
                return jnp.tanh(x @ x)
            return jax.jit(lambda x: jax.lax.fori_loop(0, 10**9, turn, x), donate_argnums=0)

        def ended(f, x, number, by):
            signal.signal(number, by)
            threading.Timer(1, os.kill, (os.getpid(), number)).start()
            before = time.process_time()
            try:
                f(x)
            except (KeyboardInterrupt, LookupError) as error:
                assert time.process_time() - before < 60
                return error
            raise AssertionError("the program went on")

        def raises(*_):
            raise LookupError("mine")

        x = jnp.zeros((64, 64))
        for f in (loop(False), loop(True)):
            assert type(ended(f, x, signal.SIGINT, signal.default_int_handler)) is KeyboardInterrupt
        assert str(ended(loop(False), x, signal.SIGUSR1, raises)) == "mine"
        assert not x.is_deleted() and float((x + 1).sum()) == 4096
        # A handler that returns lets the program go on.
        seen = []
        signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        some = jax.jit(lambda x: jax.lax.fori_loop(0, 2000, lambda _, x: jnp.tanh(x @ x), x))
        while not seen:
            y = some(x)
        assert float((y + 1).sum()) == 4096 and seen == [1]
        """,
    "debug.callback and io_callback see values in order": """
        from jax.experimental import io_callback
        seen = []
        @jax.jit
        def f(x):
            jax.debug.callback(lambda v: seen.append(("debug", float(v))), x, ordered=True)
            count = io_callback(lambda v: np.int32(len(seen)), jax.ShapeDtypeStruct((), np.int32), x, ordered=True)
            y = x + count
            jax.debug.callback(lambda v: seen.append(("after", float(v))), y, ordered=True)
            return y
        assert float(f(10.0)) == 11 and float(f(20.0)) == 23
        jax.effects_barrier()
        assert seen == [("debug", 10.0), ("after", 11.0), ("debug", 20.0), ("after", 23.0)], seen
        """,
    "callbacks of constants run where the program comes to them, each time": """
        from jax.experimental import io_callback
        numbers = iter(range(10))
        draw = lambda *_: np.int32(next(numbers))
        of = jax.ShapeDtypeStruct((), jnp.int32)
        twice = jax.jit(lambda: (io_callback(draw, of, 7), io_callback(draw, of, 7)))
        assert sorted(map(int, twice())) == [0, 1] and sorted(map(int, twice())) == [2, 3]
        def refuse(_):
            raise ValueError("the branch is not taken")
        guarded = jax.jit(lambda x: jax.lax.cond(x > 3, lambda: jax.pure_callback(refuse, of, 1), lambda: 5))
        assert int(guarded(2.0)) == 5
        try:
            print(guarded(4.0))
        except (ValueError, jax.errors.JaxRuntimeError) as error:
            assert "the branch is not taken" in str(error), error
        else:
            raise AssertionError("the branch was not taken")
        """,
    "pure_callback computes with NumPy, under vmap and with a gradient": """
        def erf(x):
            import math
            return np.vectorize(math.erf)(np.asarray(x)).astype(np.float32)
        @jax.custom_jvp
        def f(x):
            return jax.pure_callback(erf, jax.ShapeDtypeStruct(x.shape, x.dtype), x, vmap_method="expand_dims")
        f.defjvp(lambda p, t: (f(p[0]), 2 / np.sqrt(np.pi) * jnp.exp(-p[0] ** 2) * t[0]))
        x = np.linspace(-2, 2, 9, dtype=np.float32)
        np.testing.assert_allclose(jax.jit(f)(x), erf(x), rtol=1e-6)
        np.testing.assert_allclose(jax.jit(jax.vmap(f))(x), erf(x), rtol=1e-6)
        np.testing.assert_allclose(jax.vmap(jax.grad(f))(x), 2 / np.sqrt(np.pi) * np.exp(-x**2), rtol=1e-4)
        """,
    "callbacks of every kind of value": """
        import ml_dtypes
        for dtype in (np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.bool_, np.float16, np.float32,
                      ml_dtypes.bfloat16, np.complex64):
            x = (np.arange(6).reshape(2, 3) % 2 - (0 if dtype in (np.uint8, np.uint16, np.uint32, np.bool_) else 3)
                 ).astype(dtype)
            seen = []
            def f(v):
                seen.append(np.asarray(v))
                return np.asarray(v)[::-1]
            y = jax.jit(lambda v: jax.pure_callback(f, jax.ShapeDtypeStruct(v.shape, v.dtype), v))(x)
            assert seen[0].dtype == dtype and (seen[0] == x).all(), (dtype, seen)
            assert y.dtype == dtype and (np.asarray(y) == x[::-1]).all(), (dtype, y)
        """,
    "checkify": """
        from jax.experimental import checkify
        def f(x):
            checkify.check(x > 0, "x is {x}", x=x)
            return jnp.log(x)
        checked = jax.jit(checkify.checkify(f))
        error, value = checked(jnp.float32(2))
        error.throw()
        np.testing.assert_allclose(value, np.log(2), rtol=1e-5)
        error, _ = checked(jnp.float32(-1))
        assert "x is -1.0" in error.get()
        error, _ = jax.jit(checkify.checkify(lambda x, i: x[i], errors=checkify.index_checks))(jnp.arange(3), 5)
        assert "out-of-bounds" in error.get()
        """,
    "jax_debug_nans": """
        jax.config.update("jax_debug_nans", True)
        jax.jit(jnp.sqrt)(4.0)
        try:
            jax.jit(jnp.sqrt)(-1.0)
        except FloatingPointError as error:
            assert "nan" in str(error)
        else:
            raise AssertionError("a NaN was not seen")
        """,
    "disable_jit, and Python's own control flow": """
        def f(x):
            return x * 2 if x > 1 else x
        with jax.disable_jit():
            assert float(jax.jit(f)(jnp.float32(3))) == 6
        try:
            jax.jit(f)(jnp.float32(3))
        except jax.errors.TracerBoolConversionError:
            pass
        """,
    "NumPy's functions take arrays, and JAX's take NumPy's": """
        x = jnp.arange(6.0).reshape(2, 3)
        assert isinstance(np.add(x, 1), (np.ndarray, jax.Array))
        np.testing.assert_array_equal(np.asarray(x), np.arange(6.0).reshape(2, 3))
        assert np.array(x).flags.writeable and not np.asarray(x).flags.writeable
        assert float(x.sum()) == 15 and int(x[1, 2]) == 5 and x.tolist() == [[0, 1, 2], [3, 4, 5]]
        assert list(map(float, x[0])) == [0, 1, 2] and (x == np.arange(6).reshape(2, 3)).all()
        assert np.sum(x) == 15 and memoryview(np.asarray(x)).shape == (2, 3)
        """,
    "DLPack from NumPy and PyTorch": """
        x = np.arange(6, dtype=np.float32)
        assert jax.dlpack.from_dlpack(x).tolist() == x.tolist()
        import torch
        t = torch.arange(4.0)
        assert jnp.from_dlpack(t).tolist() == [0, 1, 2, 3]
        """,
    "promotion of dtypes": """
        rows = [(jnp.int8(1) + jnp.uint8(1), "int16"), (jnp.int32(1) + 1.5, "float32"),
                (jnp.bfloat16(1) + 1, "bfloat16"), (jnp.bfloat16(1) + jnp.float16(1), "float32"),
                (jnp.float16(1) + np.float32(1), "float32"), (jnp.bool_(True) + 1, "int32"),
                (jnp.int32(5) / jnp.int32(2), "float32"), (jnp.uint8(250) + jnp.uint8(10), "uint8"),
                (jnp.float32(1) * 1j, "complex64")]
        for value, dtype in rows:
            assert value.dtype == dtype, (value, dtype)
        assert int(jnp.uint8(250) + jnp.uint8(10)) == 4 and int(jnp.int8(127) + jnp.int8(1)) == -128
        """,
    "x64: what is requested is what is said": """
        jax.config.update("jax_enable_x64", True)
        x = jnp.linspace(0, 1, 5)
        assert x.dtype == np.float64 and (jnp.arange(3) * 2).dtype == np.int64
        np.testing.assert_allclose(jnp.exp(x), np.exp(np.linspace(0, 1, 5)), rtol=1e-6)
        assert int(jnp.int64(2**30) * 1) == 2**30
        """,
    "key types": """
        key = jax.random.key(7)
        assert str(key.dtype) == "key<fry>" and key.shape == ()
        keys = jax.random.split(key, (2, 3))
        assert keys.shape == (2, 3) and jax.random.key_data(keys).shape == (2, 3, 2)
        again = jax.random.wrap_key_data(jax.random.key_data(keys))
        assert (jax.vmap(jax.vmap(jax.random.bits))(again) == jax.vmap(jax.vmap(jax.random.bits))(keys)).all()
        assert jax.random.PRNGKey(7).tolist() == jax.random.key_data(key).tolist() == [0, 7]
        rbg = jax.random.key(7, impl="rbg")
        assert 0.45 < float(jax.random.uniform(rbg, (4000,)).mean()) < 0.55
        """,
    "random numbers have their moments": """
        key = jax.random.key(0)
        normal = np.asarray(jax.random.normal(key, (20000,)), np.float64)
        assert abs(normal.mean()) < 0.03 and abs(normal.std() - 1) < 0.03 and abs((normal**3).mean()) < 0.1
        gamma = np.asarray(jax.random.gamma(key, 3.0, (5000,)))
        assert abs(gamma.mean() - 3) < 0.15
        cov = np.float32([[2, 0.5], [0.5, 1]])
        x = np.asarray(jax.random.multivariate_normal(key, jnp.float32([1, -1]), cov, (20000,), method="eigh"))
        np.testing.assert_allclose(np.cov(x.T), cov, atol=0.1)
        np.testing.assert_allclose(x.mean(0), [1, -1], atol=0.05)
        """,
    "functions of several results, keyword and static arguments": """
        from functools import partial
        @partial(jax.jit, static_argnames=("axis", "keep"))
        def f(x, *, axis, keep=False):
            return {"sum": x.sum(axis, keepdims=keep), "shape": x.shape}
        out = f(jnp.ones((2, 3)), axis=1)
        assert out["sum"].tolist() == [3, 3] and out["shape"] == (2, 3)
        assert f(jnp.ones((2, 3)), axis=0, keep=True)["sum"].shape == (1, 3)
        """,
    "pmap over one chip": """
        y = jax.pmap(lambda x: x * 2)(jnp.float32([[1, 2]]))
        assert y.tolist() == [[2, 4]]
        """,
    "shapes without running": """
        out = jax.eval_shape(lambda x: (x @ x.T, x.sum()), jax.ShapeDtypeStruct((10**5, 10**5), np.float32))
        assert out[0].shape == (10**5, 10**5) and out[1].shape == ()
        """,
    "a profile has the ops of the chip": """
        import pathlib, tempfile
        f, x = jax.jit(lambda x: jnp.sum(x @ x)), jnp.ones((64, 64))
        f(x)
        for _ in range(2):
            with tempfile.TemporaryDirectory() as folder:
                with jax.profiler.trace(folder):
                    for _ in range(3):
                        f(x).block_until_ready()
                (path,) = pathlib.Path(folder).rglob("*.xplane.pb")
                planes = {plane.name: plane for plane in jax.profiler.ProfileData.from_file(str(path)).planes}
                lines = {line.name: list(line.events) for line in planes["/device:tt:0"].lines}
        assert len(lines["XLA Modules"]) == 3, lines
        ops = lines["XLA Ops"]
        assert len(ops) == len(lines["Simulator"]) and len(ops) % 3 == 0
        assert sum("matmul" in op.name for op in ops) == 3, [op.name for op in ops]
        assert all(op.duration_ns > 0 and dict(op.stats)["cycles"] > 0 for op in ops if "matmul" in op.name)
        assert all(a.start_ns + a.duration_ns <= b.start_ns + 1 for a, b in zip(ops, ops[1:]))
        """,
}

ERRORS = {
    "a callback that raises": (
        """
        def broken(x):
            raise ValueError("broken on purpose")
        jax.jit(lambda x: jax.pure_callback(broken, jax.ShapeDtypeStruct((), np.float32), x))(1.0).block_until_ready()
        """,
        "broken on purpose",
    ),
    "a callback that gives another shape": (
        """
        f = jax.jit(lambda x: jax.pure_callback(lambda x: np.zeros(3), jax.ShapeDtypeStruct((), np.float32), x))
        f(1.0).block_until_ready()
        """,
        "result 0 of a callback is float32[3], expected float32[]",
    ),
    "pmap over more chips than there are": ("jax.pmap(lambda x: x)(jnp.arange(4.0))", "got shape=(4,)"),
}  # fmt: skip
