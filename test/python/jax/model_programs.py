# SPDX-License-Identifier: Apache-2.0
"""Programs as JAX's users write them: models, and how they are trained. See user_programs.py."""

from __future__ import annotations

MODELS = {
    "optax: adafactor and a warm-up with clipping lower a loss": """
        import optax
        x = np.random.default_rng(0).standard_normal((128, 16)).astype(np.float32)
        y = np.tanh(x @ np.random.default_rng(1).standard_normal((16, 4)).astype(np.float32))
        schedule = optax.warmup_cosine_decay_schedule(0.0, 0.1, 10, 100)
        adafactor = optax.adafactor(schedule, min_dim_size_to_factor=4, multiply_by_parameter_scale=False)
        optimizer = optax.chain(optax.clip(1.0), adafactor)
        parameters = {"w": jnp.zeros((16, 4)), "b": jnp.zeros(4)}
        state = optimizer.init(parameters)
        loss = lambda p: jnp.mean((jnp.tanh(x @ p["w"] + p["b"]) - y) ** 2)
        @jax.jit
        def step(parameters, state):
            value, grads = jax.value_and_grad(loss)(parameters)
            updates, state = optimizer.update(grads, state, parameters)
            return optax.apply_updates(parameters, updates), state, value
        values = []
        for _ in range(100):
            parameters, state, value = step(parameters, state)
            values.append(float(value))
        assert values[-1] < 0.1 * values[0], values[::20]
        np.testing.assert_allclose(schedule(5), 0.05, rtol=1e-5)
        """,
    "flax.nnx: batch normalisation and dropout, in training and not": """
        from flax import nnx
        class Net(nnx.Module):
            def __init__(self, rngs):
                self.linear = nnx.Linear(6, 8, rngs=rngs)
                self.norm = nnx.BatchNorm(8, momentum=0.9, rngs=rngs)
                self.drop = nnx.Dropout(0.5, rngs=rngs)
            def __call__(self, x):
                return self.drop(self.norm(self.linear(x)))
        net = Net(nnx.Rngs(0))
        x = np.random.default_rng(0).normal(2, 3, (64, 6)).astype(np.float32)
        run = nnx.jit(lambda net, x: net(x))
        net.train()
        y = np.asarray(run(net, x))
        assert 0.3 < (y == 0).mean() < 0.7
        h = x @ np.asarray(net.linear.kernel[...]) + np.asarray(net.linear.bias[...])
        np.testing.assert_allclose(net.norm.mean[...], 0.1 * h.mean(0), rtol=1e-3, atol=1e-4)
        net.eval()
        expected = (h - net.norm.mean[...]) / np.sqrt(np.asarray(net.norm.var[...]) + 1e-5)
        np.testing.assert_allclose(run(net, x), expected, rtol=1e-3, atol=1e-3)
        """,
    "plain pytrees: a module is a dataclass that JAX knows": """
        import dataclasses
        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class Dense:
            w: jax.Array
            b: jax.Array
            activation: str = dataclasses.field(metadata=dict(static=True), default="tanh")
            def __call__(self, x):
                return getattr(jnp, self.activation)(x @ self.w + self.b)
        @jax.tree_util.register_dataclass
        @dataclasses.dataclass
        class Net:
            layers: list
            def __call__(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x
        keys = jax.random.split(jax.random.key(0), 2)
        net = Net([Dense(jax.random.normal(keys[0], (2, 16)), jnp.zeros(16)),
                   Dense(jax.random.normal(keys[1], (16, 1)) / 4, jnp.zeros(1))])
        x = np.float32([[0, 0], [0, 1], [1, 0], [1, 1]]) * 2 - 1
        y = np.float32([[-1], [1], [1], [-1]]) * 0.9
        @jax.jit
        def step(net):
            grads = jax.grad(lambda net: jnp.mean((net(x) - y) ** 2))(net)
            return jax.tree.map(lambda p, g: p - 0.3 * g, net, grads)
        for _ in range(150):
            net = step(net)
        assert np.abs(np.asarray(net(x)) - y).max() < 0.2
        """,
    "checkpoints with NumPy: training goes on where it was": """
        import io, optax
        optimizer = optax.adam(0.05)
        loss = lambda p: jnp.sum((p["a"] - 3) ** 2) + jnp.sum((p["b"]["c"] + 1) ** 2)
        @jax.jit
        def step(p, s):
            u, s = optimizer.update(jax.grad(loss)(p), s, p)
            return optax.apply_updates(p, u), s
        p = {"a": jnp.zeros(3), "b": {"c": jnp.ones((2, 2), jnp.bfloat16)}}
        s = optimizer.init(p)
        for _ in range(5):
            p, s = step(p, s)
        leaves, structure = jax.tree.flatten((p, s))
        file = io.BytesIO()
        np.savez(file, *[np.asarray(leaf, np.float32) for leaf in leaves])
        file.seek(0)
        with np.load(file) as read:
            again = [jnp.asarray(read[f"arr_{i}"], leaf.dtype) for i, leaf in enumerate(leaves)]
        q, t = jax.tree.unflatten(structure, again)
        for _ in range(5):
            p, s = step(p, s)
            q, t = step(q, t)
        for a, b in zip(jax.tree.leaves((p, s)), jax.tree.leaves((q, t))):
            np.testing.assert_array_equal(np.asarray(a, np.float32), np.asarray(b, np.float32))
        """,
    "vmap over models: an ensemble is trained at once": """
        x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]
        y = x ** 2
        def init(key):
            a, b = jax.random.split(key)
            return {"w": jax.random.normal(a, (1, 8)), "v": jax.random.normal(b, (8, 1)) / 3, "b": jnp.zeros(8)}
        predict = lambda p, x: jnp.tanh(x @ p["w"] + p["b"]) @ p["v"]
        loss = lambda p: jnp.mean((predict(p, x) - y) ** 2)
        models = jax.vmap(init)(jax.random.split(jax.random.key(1), 5))
        first = jax.vmap(loss)(models)
        step = jax.jit(jax.vmap(lambda p: jax.tree.map(lambda w, g: w - 0.2 * g, p, jax.grad(loss)(p))))
        alone = jax.tree.map(lambda w: w[2], models)
        for _ in range(60):
            models = step(models)
            alone = jax.tree.map(lambda w, g: w - 0.2 * g, alone, jax.grad(loss)(alone))
        last = jax.vmap(loss)(models)
        assert (np.asarray(last) < np.asarray(first)).all()
        np.testing.assert_allclose(models["v"][2], alone["v"], rtol=1e-3, atol=1e-4)
        """,
    "gradient descent with a backtracking line search": """
        from jax import lax
        f = lambda x: jnp.sum(jnp.array([1.0, 10.0, 100.0]) * (x - 1) ** 2)
        @jax.jit
        def descend(x):
            def body(state):
                x, count = state
                g = jax.grad(f)(x)
                def worse(t):
                    return f(x - t * g) > f(x) - 0.5 * t * jnp.sum(g * g)
                t = lax.while_loop(worse, lambda t: t * 0.5, 1.0)
                return x - t * g, count + 1
            return lax.while_loop(lambda s: (jnp.linalg.norm(jax.grad(f)(s[0])) > 1e-3) & (s[1] < 500), body, (x, 0))
        x, count = descend(jnp.zeros(3))
        assert count < 500
        np.testing.assert_allclose(x, np.ones(3), atol=1e-3)
        """,
    "optax: L-BFGS": """
        import optax
        f = lambda x: jnp.sum((x - jnp.arange(4.0)) ** 4 + (x - jnp.arange(4.0)) ** 2)
        solver = optax.lbfgs()
        x = jnp.full(4, 5.0)
        state = solver.init(x)
        value_and_grad = optax.value_and_grad_from_state(f)
        @jax.jit
        def step(x, state):
            value, grad = value_and_grad(x, state=state)
            updates, state = solver.update(grad, state, x, value=value, grad=grad, value_fn=f)
            return optax.apply_updates(x, updates), state
        for _ in range(12):
            x, state = step(x, state)
        np.testing.assert_allclose(x, np.arange(4), atol=1e-3)
        """,
    "a variational autoencoder with Gumbel-softmax": """
        import optax
        keys = iter(jax.random.split(jax.random.key(0), 20))
        x = np.repeat(np.eye(4, dtype=np.float32), 16, 0)
        p = {"e": jax.random.normal(next(keys), (4, 6)) / 2, "d": jax.random.normal(next(keys), (6, 4)) / 2}
        def loss(p, key, temperature):
            logits = x @ p["e"]
            z = jax.nn.softmax((logits + jax.random.gumbel(key, logits.shape)) / temperature)
            q = jax.nn.softmax(logits)
            kl = jnp.sum(q * (jnp.log(q + 1e-9) - jnp.log(1 / 6)), -1)
            reconstruction = optax.sigmoid_binary_cross_entropy(z @ p["d"], x).sum(-1)
            return jnp.mean(reconstruction + 0.01 * kl)
        optimizer = optax.adam(0.1)
        state = optimizer.init(p)
        @jax.jit
        def step(p, state, key, temperature):
            value, grads = jax.value_and_grad(loss)(p, key, temperature)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(p, updates), state, value
        values = []
        for i in range(60):
            p, state, value = step(p, state, jax.random.fold_in(jax.random.key(7), i), max(0.5, 1 - i / 100))
            values.append(float(value))
        assert np.mean(values[-5:]) < 0.4 * values[0], values[::10]
        """,
    "a normalizing flow: inverse, and the log of its determinant": """
        def mask(i):
            return jnp.arange(4) % 2 == i % 2
        def shift_scale(p, x):
            h = jnp.tanh(x @ p["w"])
            return h @ p["t"], jnp.tanh(h @ p["s"])
        def forward(layers, x):
            logdet = 0.0
            for i, p in enumerate(layers):
                kept = jnp.where(mask(i), x, 0)
                t, s = shift_scale(p, kept)
                x = jnp.where(mask(i), x, x * jnp.exp(s) + t)
                logdet += jnp.sum(jnp.where(mask(i), 0, s), -1)
            return x, logdet
        def inverse(layers, y):
            for i, p in reversed(list(enumerate(layers))):
                t, s = shift_scale(p, jnp.where(mask(i), y, 0))
                y = jnp.where(mask(i), y, (y - t) * jnp.exp(-s))
            return y
        layers = [{n: jax.random.normal(jax.random.fold_in(jax.random.key(i), j), s) / 2
                   for j, (n, s) in enumerate({"w": (4, 8), "t": (8, 4), "s": (8, 4)}.items())} for i in range(3)]
        x = jax.random.normal(jax.random.key(9), (5, 4))
        y, logdet = jax.jit(forward)(layers, x)
        np.testing.assert_allclose(jax.jit(inverse)(layers, y), x, atol=1e-4)
        jacobians = jax.vmap(jax.jacfwd(lambda v: forward(layers, v)[0]))(x)
        np.testing.assert_allclose(jnp.linalg.slogdet(jacobians)[1], logdet, rtol=1e-3, atol=1e-3)
        """,
    "a Wasserstein GAN's steps, with a gradient penalty": """
        critic = lambda c, x: jnp.tanh(x @ c["w"]) @ c["v"]
        generate = lambda g, z: z @ g["a"] + g["b"]
        def critic_loss(c, g, real, z, key):
            fake = generate(g, z)
            u = jax.random.uniform(key, (len(real), 1))
            between = u * real + (1 - u) * fake
            slope = jax.vmap(jax.grad(lambda x: critic(c, x)[0]))(between)
            penalty = jnp.mean((jnp.linalg.norm(slope, axis=-1) - 1) ** 2)
            return critic(c, fake).mean() - critic(c, real).mean() + 10 * penalty
        keys = jax.random.split(jax.random.key(0), 3)
        c = {"w": jax.random.normal(keys[0], (2, 16)), "v": jax.random.normal(keys[1], (16, 1)) / 4}
        g = {"a": jnp.eye(2), "b": jnp.zeros(2)}
        descend = lambda p, d, rate: jax.tree.map(lambda w, s: w - rate * s, p, d)
        @jax.jit
        def round(c, g, key):
            ks = jax.random.split(key, 10)
            for i in range(3):
                real = jnp.array([2.0, -1.0]) + 0.5 * jax.random.normal(ks[i], (32, 2))
                z = jax.random.normal(ks[i + 3], (32, 2))
                c = descend(c, jax.grad(critic_loss)(c, g, real, z, ks[i + 6]), 0.03)
            z = jax.random.normal(ks[9], (32, 2))
            return c, descend(g, jax.grad(lambda g: -critic(c, generate(g, z)).mean())(g), 0.1)
        for i in range(40):
            c, g = round(c, g, jax.random.fold_in(keys[2], i))
        assert np.linalg.norm(np.asarray(g["b"]) - [2, -1]) < 1.2, g["b"]
        """,
    "a graph network by segment_sum finds the degrees of its nodes": """
        senders, receivers = np.int32([0, 1, 2, 3, 0, 2]), np.int32([1, 0, 0, 2, 3, 3])
        def layer(p, nodes):
            messages = jnp.tanh(nodes[senders] @ p["m"])
            sums = jax.ops.segment_sum(messages, receivers, num_segments=5)
            counts = jax.ops.segment_sum(jnp.ones(len(receivers)), receivers, num_segments=5)
            return nodes @ p["u"] + sums / jnp.maximum(counts, 1)[:, None], counts
        p = {"m": jax.random.normal(jax.random.key(0), (3, 3)), "u": jax.random.normal(jax.random.key(1), (3, 3))}
        nodes = np.random.default_rng(0).standard_normal((5, 3)).astype(np.float32)
        found, counts = jax.jit(layer)(p, nodes)
        np.testing.assert_array_equal(counts, np.bincount(receivers, minlength=5))
        m = np.tanh(nodes[senders] @ np.asarray(p["m"]))
        sums = np.zeros((5, 3), np.float32)
        np.add.at(sums, receivers, m)
        expected = nodes @ np.asarray(p["u"]) + sums / np.maximum(np.bincount(receivers, minlength=5), 1)[:, None]
        np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-4)
        g = jax.jit(jax.grad(lambda p: jnp.sum(layer(p, nodes)[0] ** 2)))(p)
        assert np.isfinite(np.asarray(g["m"])).all() and np.abs(np.asarray(g["m"])).max() > 0
        """,
    "optax: the loss of CTC is that of all alignments": """
        import itertools, optax
        logits = np.random.default_rng(0).standard_normal((1, 4, 3)).astype(np.float32)
        labels = np.int32([[1, 2]])
        found = jax.jit(optax.ctc_loss)(logits, np.zeros((1, 4), np.float32), labels, np.zeros((1, 2), np.float32))
        p = np.exp(logits[0] - np.log(np.exp(logits[0]).sum(-1, keepdims=True)))
        total = 0.0
        for path in itertools.product(range(3), repeat=4):
            merged = [k for k, _ in itertools.groupby(path) if k]
            total += np.prod(p[np.arange(4), path]) if merged == [1, 2] else 0.0
        np.testing.assert_allclose(found, [-np.log(total)], rtol=1e-3)
        """,
    "Viterbi finds the most likely path": """
        import itertools
        from jax import lax
        rng = np.random.default_rng(0)
        start, move, emit = (np.log(rng.dirichlet(np.ones(3), n)).astype(np.float32) for n in (1, 3, 3))
        seen = np.int32([0, 2, 1, 1, 0, 2])
        @jax.jit
        def viterbi(start, move, emit, seen):
            def step(best, now):
                scores = best[:, None] + move
                return scores.max(0) + emit[:, now], scores.argmax(0)
            best, back = lax.scan(step, start + emit[:, seen[0]], seen[1:])
            last = best.argmax()
            _, path = lax.scan(lambda state, b: (b[state], b[state]), last, back, reverse=True)
            return jnp.append(path, last), best.max()
        path, score = viterbi(start[0], move, emit, seen)
        def likelihood(path):
            pairs = zip(path, path[1:])
            return start[0, path[0]] + sum(move[a, b] for a, b in pairs) + sum(emit[s, o] for s, o in zip(path, seen))
        best = max(itertools.product(range(3), repeat=6), key=likelihood)
        np.testing.assert_array_equal(path, best)
        np.testing.assert_allclose(score, likelihood(best), rtol=1e-5)
        """,
    "a selective scan: step by step, and in parallel": """
        from jax import lax
        rng = np.random.default_rng(0)
        x, delta = rng.standard_normal((16, 4)).astype(np.float32), rng.uniform(0.1, 1, (16, 4)).astype(np.float32)
        a = -rng.uniform(0.5, 2, (4, 3)).astype(np.float32)
        b, c = rng.standard_normal((2, 16, 3)).astype(np.float32)
        @jax.jit
        def in_parallel(x, delta, a, b, c):
            decay = jnp.exp(delta[..., None] * a)
            add = (delta * x)[..., None] * b[:, None, :]
            _, h = lax.associative_scan(lambda l, r: (l[0] * r[0], r[0] * l[1] + r[1]), (decay, add))
            return jnp.einsum("tds,ts->td", h, c)
        @jax.jit
        def by_steps(x, delta, a, b, c):
            def step(h, now):
                x, d, b, c = now
                h = jnp.exp(d[:, None] * a) * h + (d * x)[:, None] * b
                return h, h @ c
            return lax.scan(step, jnp.zeros((4, 3)), (x, delta, b, c))[1]
        h, expected = np.zeros((4, 3)), []
        for t in range(16):
            h = np.exp(delta[t][:, None] * a) * h + (delta[t] * x[t])[:, None] * b[t]
            expected.append(h @ c[t])
        np.testing.assert_allclose(by_steps(x, delta, a, b, c), expected, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(in_parallel(x, delta, a, b, c), expected, rtol=1e-3, atol=1e-4)
        """,
    "flax.linen: a vision transformer learns where a square is": """
        import flax.linen as nn, optax
        class Block(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = x + nn.MultiHeadDotProductAttention(2)(nn.LayerNorm()(x))
                return x + nn.Dense(16)(nn.gelu(nn.Dense(32)(nn.LayerNorm()(x))))
        class ViT(nn.Module):
            @nn.compact
            def __call__(self, x):
                x = nn.Conv(16, (4, 4), strides=(4, 4))(x)
                x = x.reshape(len(x), -1, 16)
                x = x + self.param("position", nn.initializers.normal(0.02), (1, x.shape[1], 16))
                return nn.Dense(4)(Block()(x).mean(1))
        rng = np.random.default_rng(0)
        y = np.arange(32) % 4
        x = 0.1 * rng.standard_normal((32, 8, 8, 1)).astype(np.float32)
        for i, k in enumerate(y):
            x[i, 4 * (k // 2) : 4 * (k // 2) + 4, 4 * (k % 2) : 4 * (k % 2) + 4] += 1
        net = ViT()
        p = net.init(jax.random.key(0), x)
        optimizer = optax.adam(1e-2)
        state = optimizer.init(p)
        @jax.jit
        def step(p, state):
            loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(net.apply(p, x), y).mean()
            value, grads = jax.value_and_grad(loss)(p)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(p, updates), state, value
        for _ in range(40):
            p, state, value = step(p, state)
        assert (np.asarray(net.apply(p, x)).argmax(-1) == y).mean() > 0.95, value
        """,
    "flax.linen: a U-Net learns the noise of a diffusion": """
        import flax.linen as nn, optax
        class UNet(nn.Module):
            @nn.compact
            def __call__(self, x, t):
                e = nn.Dense(8)(jnp.concatenate([jnp.sin(t[:, None] * 7), jnp.cos(t[:, None] * 7)], -1))[:, None, None]
                a = nn.silu(nn.GroupNorm(2)(nn.Conv(8, (3, 3))(x)) + e)
                b = nn.silu(nn.Conv(16, (3, 3), strides=(2, 2))(a))
                b = nn.silu(nn.Conv(16, (3, 3))(b))
                up = nn.ConvTranspose(8, (2, 2), strides=(2, 2))(b)
                return nn.Conv(1, (3, 3))(jnp.concatenate([a, up], -1))
        x = np.tile(np.float32([[1, -1], [-1, 1]]), (16, 4, 4))[..., None]
        net = UNet()
        p = net.init(jax.random.key(0), x, jnp.zeros(16))
        optimizer = optax.adam(1e-2)
        state = optimizer.init(p)
        def loss(p, key):
            a, b = jax.random.split(key)
            t, noise = jax.random.uniform(a, (16,)), jax.random.normal(b, x.shape)
            mixed = jnp.sqrt(1 - t)[:, None, None, None] * x + jnp.sqrt(t)[:, None, None, None] * noise
            return jnp.mean((net.apply(p, mixed, t) - noise) ** 2)
        @jax.jit
        def step(p, state, key):
            value, grads = jax.value_and_grad(loss)(p, key)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(p, updates), state, value
        values = []
        for i in range(25):
            p, state, value = step(p, state, jax.random.key(i))
            values.append(float(value))
        assert np.mean(values[-5:]) < 0.6 * values[0], values[::5]
        """,
    "an LSTM learns to tell the sign of a sum": """
        import optax
        from jax import lax
        rng = np.random.default_rng(0)
        x = rng.standard_normal((64, 6, 1)).astype(np.float32)
        y = (x.sum((1, 2)) > 0).astype(np.float32)
        p = {"w": jax.random.normal(jax.random.key(0), (9, 32)) / 3, "b": jnp.zeros(32), "o": jnp.zeros(8)}
        def logits(p, x):
            def cell(state, now):
                h, c = state
                i, f, g, o = jnp.split(jnp.concatenate([now, h], -1) @ p["w"] + p["b"], 4, -1)
                c = jax.nn.sigmoid(f + 1) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
                h = jax.nn.sigmoid(o) * jnp.tanh(c)
                return (h, c), None
            zero = jnp.zeros((len(x), 8))
            (h, _), _ = lax.scan(cell, (zero, zero), x.swapaxes(0, 1))
            return h @ p["o"]
        optimizer = optax.adam(0.05)
        state = optimizer.init(p)
        @jax.jit
        def step(p, state):
            loss = lambda p: optax.sigmoid_binary_cross_entropy(logits(p, x), y).mean()
            updates, state = optimizer.update(jax.grad(loss)(p), state)
            return optax.apply_updates(p, updates), state
        for _ in range(60):
            p, state = step(p, state)
        assert ((np.asarray(logits(p, x)) > 0) == y).mean() > 0.9
        """,
    "mixed precision with a scale of the loss that adapts": """
        from jax import lax
        x = np.random.default_rng(0).standard_normal((64, 8)).astype(np.float32)
        y = x @ np.arange(8, dtype=np.float32) / 8
        def loss(w, scale):
            half = w.astype(jnp.float16)
            return jnp.mean((x.astype(jnp.float16) @ half - y.astype(jnp.float16)) ** 2).astype(jnp.float32) * scale
        @jax.jit
        def step(w, scale, good):
            g = jax.grad(loss)(w, scale) / scale
            finite = jnp.isfinite(g).all()
            w = jnp.where(finite, w - 0.1 * g, w)
            good = jnp.where(finite, good + 1, 0)
            scale = jnp.where(finite, jnp.where(good % 20 == 0, scale * 2, scale), scale / 2)
            return w, scale, good, finite
        w, scale, good, skipped = jnp.zeros(8), jnp.float32(2**24), jnp.int32(0), 0
        for _ in range(120):
            w, scale, good, finite = step(w, scale, good)
            skipped += not finite
        assert skipped > 0 and scale < 2**24
        np.testing.assert_allclose(w, np.arange(8) / 8, atol=0.02)
        """,
    "bfloat16 parameters with a copy in f32": """
        x = np.random.default_rng(0).standard_normal((64, 8)).astype(np.float32)
        y = x @ np.arange(8, dtype=np.float32) / 8
        @jax.jit
        def step(master):
            def loss(w):
                return jnp.mean((jnp.dot(x.astype(jnp.bfloat16), w, preferred_element_type=jnp.float32) - y) ** 2)
            g = jax.grad(loss)(master.astype(jnp.bfloat16))
            assert g.dtype == jnp.bfloat16
            return master - 0.1 * g.astype(jnp.float32)
        w = jnp.zeros(8)
        for _ in range(80):
            w = step(w)
        np.testing.assert_allclose(w, np.arange(8) / 8, atol=0.02)
        """,
    "8-bit integers: products are exact, and dequantised": """
        from jax import lax
        rng = np.random.default_rng(0)
        w, x = rng.standard_normal((16, 8)).astype(np.float32), rng.standard_normal((4, 16)).astype(np.float32)
        def quantize(v, axis):
            scale = jnp.max(jnp.abs(v), axis=axis, keepdims=True) / 127
            return jnp.round(v / scale).astype(jnp.int8), scale
        @jax.jit
        def dense(x, q, scale):
            xq, xs = quantize(x, -1)
            total = lax.dot_general(xq, q, (((1,), (0,)), ((), ())), preferred_element_type=jnp.int32)
            return total, total * xs * scale
        q, scale = jax.jit(lambda w: quantize(w, 0))(w)
        total, y = dense(x, q, scale)
        xq = np.asarray(quantize(jnp.asarray(x), -1)[0]).astype(np.int64)
        np.testing.assert_array_equal(total, xq @ np.asarray(q).astype(np.int64))
        assert np.abs(np.asarray(y) - x @ w).max() < 0.15
        """,
    "8-bit floats: weights are kept in e4m3, gradients in e5m2": """
        x = np.random.default_rng(0).standard_normal((32, 8)).astype(np.float32)
        y = x @ np.float32([1, -1, 0.5, 2, 0, 1, -2, 0.25])
        @jax.custom_vjp
        def product(x, w):
            return jnp.dot(x.astype(jnp.float8_e4m3fn), w.astype(jnp.float8_e4m3fn), preferred_element_type=jnp.float32)
        def forward(x, w):
            return product(x, w), (x.astype(jnp.float8_e4m3fn), w.astype(jnp.float8_e4m3fn))
        def backward(kept, g):
            x, w = kept
            g = g.astype(jnp.float8_e5m2)
            into = lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.float32)
            return into(g[:, None], w[None, :]), into(x.T, g)
        product.defvjp(forward, backward)
        step = jax.jit(lambda w: w - 0.2 * jax.grad(lambda w: jnp.mean((product(x, w) - y) ** 2))(w))
        w = jnp.zeros(8)
        for _ in range(60):
            w = step(w)
        np.testing.assert_allclose(w, [1, -1, 0.5, 2, 0, 1, -2, 0.25], atol=0.15)
        """,
    "attention by einsum: groups of heads, rotary positions and a causal mask": """
        def rotate(x):
            half = x.shape[-1] // 2
            angles = jnp.arange(x.shape[1])[:, None] / 100 ** (jnp.arange(half) / half)
            c, s = jnp.cos(angles)[None, :, None], jnp.sin(angles)[None, :, None]
            a, b = x[..., :half], x[..., half:]
            return jnp.concatenate([a * c - b * s, a * s + b * c], -1)
        @jax.jit
        def attend(q, k, v):
            q, k = rotate(q), rotate(k)
            q = q.reshape(*q.shape[:2], k.shape[2], -1, q.shape[-1])
            scores = jnp.einsum("bqkgd,bskd->bkgqs", q, k) / np.sqrt(q.shape[-1])
            scores = jnp.where(jnp.tril(jnp.ones(scores.shape[-2:], bool)), scores, -jnp.inf)
            out = jnp.einsum("bkgqs,bskd->bqkgd", jax.nn.softmax(scores), v)
            return out.reshape(*out.shape[:2], -1, out.shape[-1])
        rng = np.random.default_rng(0)
        q, k, v = (rng.standard_normal((2, 6, h, 8)).astype(np.float32) for h in (4, 2, 2))
        found = np.asarray(attend(q, k, v))
        qr, kr = np.asarray(rotate(q)), np.asarray(rotate(k))
        for b, h, t in np.ndindex(2, 4, 6):
            s = qr[b, t, h] @ kr[b, : t + 1, h // 2].T / np.sqrt(8)
            p = np.exp(s - s.max())
            np.testing.assert_allclose(found[b, t, h], p / p.sum() @ v[b, : t + 1, h // 2], rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(jnp.linalg.norm(rotate(q), axis=-1), np.linalg.norm(q, axis=-1), rtol=1e-4)
        """,
    "custom_jvp: a logarithm that is safe, forward, backward and twice": """
        @jax.custom_jvp
        def log1pexp(x):
            return jnp.where(x > 20, x, jnp.log1p(jnp.exp(jnp.minimum(x, 20))))
        log1pexp.defjvps(lambda t, _, x: jax.nn.sigmoid(x) * t)
        x = np.float32([-30, -1, 0, 1, 30, 100])
        s = 1 / (1 + np.exp(-x.astype(np.float64)))
        np.testing.assert_allclose(jax.jit(jax.vmap(jax.grad(log1pexp)))(x), s, rtol=1e-4, atol=1e-10)
        np.testing.assert_allclose(jax.jit(lambda x: jax.jvp(log1pexp, (x,), (jnp.ones(6),))[1])(x), s, rtol=1e-4)
        second = jax.jit(jax.vmap(jax.grad(jax.grad(log1pexp))))(x)
        np.testing.assert_allclose(second, s * (1 - s), rtol=1e-3, atol=1e-7)
        """,
    "checkify: divisions, indices and checks of one's own": """
        from jax.experimental import checkify
        def f(x, i):
            checkify.check(i >= 0, "i is {i}", i=i)
            return 1 / x[i]
        checked = jax.jit(checkify.checkify(f, errors=checkify.all_checks))
        x = jnp.float32([1, 0, 4])
        error, value = checked(x, 2)
        error.throw()
        assert value == 0.25
        for index, message in ((1, "division by zero"), (5, "out-of-bounds"), (-1, "i is -1")):
            error, _ = checked(x, index)
            assert message in (error.get() or ""), (index, error.get())
        """,
    "reinforcement: REINFORCE finds the better arm": """
        from jax import lax
        rewards = jnp.float32([0.1, 0.9, 0.3])
        @jax.jit
        def play(logits, key):
            def turn(state, key):
                logits, baseline = state
                arms = jax.random.categorical(key, logits, shape=(16,))
                r = rewards[arms]
                score = lambda l: jnp.mean(jax.nn.log_softmax(l)[arms] * (r - baseline))
                return (logits + 0.5 * jax.grad(score)(logits), 0.9 * baseline + 0.1 * r.mean()), r.mean()
            return lax.scan(turn, (logits, 0.0), jax.random.split(key, 100))
        (logits, _), history = play(jnp.zeros(3), jax.random.key(0))
        assert int(logits.argmax()) == 1 and history[-10:].mean() > history[:10].mean()
        """,
    "the modes of a damped system by eig, and its matrix exponential": """
        import jax.scipy.linalg as sl
        a = np.float32([[0, 1], [-4, -0.4]])
        w, v = jax.jit(jnp.linalg.eig)(a)
        np.testing.assert_allclose(sorted(np.asarray(w).imag), [-np.sqrt(3.96), np.sqrt(3.96)], rtol=1e-4)
        by_modes = (np.asarray(v) @ np.diag(np.exp(np.asarray(w))) @ np.linalg.inv(np.asarray(v))).real
        np.testing.assert_allclose(jax.jit(sl.expm)(a), by_modes, rtol=1e-3, atol=1e-4)
        roots = np.asarray(jnp.roots(jnp.float32([1, -6, 11, -6])))
        np.testing.assert_allclose(np.sort(roots.real), [1, 2, 3], rtol=1e-3)
        """,
}
