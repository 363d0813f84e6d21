# SPDX-License-Identifier: Apache-2.0
"""Programs of science and of inference, as user_programs.py: checked with NumPy or a closed form."""

from __future__ import annotations

SCIENCE = {
    "an ODE: a pendulum of small swing": """
        from jax.experimental.ode import odeint
        t = jnp.linspace(0, 4, 9)
        y = odeint(lambda y, t: jnp.stack([y[1], -y[0]]), jnp.float32([1, 0]), t, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(y[:, 0], np.cos(np.linspace(0, 4, 9)), atol=2e-4)
        """,
    "an ODE's gradient by its parameter": """
        from jax.experimental.ode import odeint
        end = lambda k: odeint(lambda y, t, k: -k * y, jnp.float32(2), jnp.float32([0, 1.5]), k, rtol=1e-5)[-1]
        value, slope = jax.jit(jax.value_and_grad(end))(jnp.float32(0.7))
        np.testing.assert_allclose((value, slope), (2 * np.exp(-1.05), -3 * np.exp(-1.05)), rtol=1e-3)
        """,
    "Runge-Kutta keeps the energy of an orbit": """
        def force(s):
            r = s[:2]
            return jnp.concatenate([s[2:], -r / jnp.sum(r**2) ** 1.5])
        def step(s, _):
            h = 0.02
            k1 = force(s); k2 = force(s + h / 2 * k1); k3 = force(s + h / 2 * k2); k4 = force(s + h * k3)
            return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None
        start = jnp.float32([1, 0, 0, 1])
        end, _ = jax.jit(lambda s: jax.lax.scan(step, s, None, length=314))(start)
        energy = lambda s: 0.5 * (s[2] ** 2 + s[3] ** 2) - 1 / np.hypot(s[0], s[1])
        assert abs(energy(np.asarray(end)) + 0.5) < 1e-4
        np.testing.assert_allclose(end[:2], [np.cos(6.28), np.sin(6.28)], atol=2e-3)
        """,
    "sparse matrices: BCOO": """
        from jax.experimental import sparse
        rng = np.random.default_rng(0)
        dense = rng.standard_normal((6, 5)).astype(np.float32) * (rng.random((6, 5)) < 0.3)
        x = rng.standard_normal((5, 2)).astype(np.float32)
        m = sparse.BCOO.fromdense(jnp.asarray(dense))
        assert m.nse == np.count_nonzero(dense)
        np.testing.assert_allclose(jax.jit(lambda m, x: m @ x)(m, x), dense @ x, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose((m.T @ jnp.ones(6)), dense.T @ np.ones(6), rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(m.todense(), dense)
        f = sparse.sparsify(lambda m, x: (m * 2.0) @ x)
        np.testing.assert_allclose(f(m, x), 2 * dense @ x, rtol=1e-4, atol=1e-5)
        """,
    "a low-pass filter in the frequencies": """
        t = np.arange(256) / 256
        signal = (np.sin(2 * np.pi * 4 * t) + 0.5 * np.sin(2 * np.pi * 60 * t)).astype(np.float32)
        @jax.jit
        def lowpass(x):
            spectrum = jnp.fft.rfft(x)
            return jnp.fft.irfft(jnp.where(jnp.arange(129) < 20, spectrum, 0), n=256)
        np.testing.assert_allclose(lowpass(signal), np.sin(2 * np.pi * 4 * t), atol=1e-3)
        """,
    "convolution by FFT": """
        import jax.scipy.signal
        x, k = np.random.default_rng(0).standard_normal((2, 40)).astype(np.float32)
        np.testing.assert_allclose(jax.scipy.signal.fftconvolve(x, k), np.convolve(x, k), atol=1e-3)
        """,
    "a Kalman filter follows a constant": """
        rng = np.random.default_rng(0)
        z = (3 + rng.standard_normal(200)).astype(np.float32)
        def step(state, z):
            m, p = state
            gain = p / (p + 1.0)
            return (m + gain * (z - m), (1 - gain) * p), m
        (m, p), _ = jax.jit(lambda z: jax.lax.scan(step, (jnp.float32(0), jnp.float32(100)), z))(z)
        # Of a constant it is the mean with a prior.
        np.testing.assert_allclose((m, p), (z.sum(dtype=np.float64) / (200 + 0.01), 1 / (200 + 0.01)), rtol=1e-3)
        """,
    "a Kalman filter in several dimensions": """
        f, h = np.float32([[1, 1], [0, 1]]), np.float32([[1, 0]])
        q, r = 0.01 * np.eye(2, dtype=np.float32), np.float32([[0.5]])
        z = (np.arange(30) * 0.7 + np.random.default_rng(0).standard_normal(30) * 0.5).astype(np.float32)
        def run(xp, solve, z, steps):
            def step(state, z):
                m, p = f @ state[0], f @ state[1] @ f.T + q
                s = h @ p @ h.T + r
                k = solve(s, h @ p).T
                return (m + k @ (z - h @ m), p - k @ s @ k.T), m
            return steps(step, (xp.zeros(2), 10 * xp.eye(2)), z)
        def loop(step, state, z):
            for v in z:
                state, _ = step(state, np.array([v], np.float64))
            return state
        m, p = run(np, np.linalg.solve, z, loop)
        found = jax.jit(lambda z: run(jnp, jnp.linalg.solve, z[:, None],
                                      lambda *a: jax.lax.scan(*a)[0]))(z)
        np.testing.assert_allclose(found[0], m, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(found[1], p, rtol=1e-2, atol=1e-3)
        """,
    "Metropolis samples a Gaussian": """
        def step(x, key):
            a, b = jax.random.split(key)
            new = x + 1.5 * jax.random.normal(a)
            accept = jnp.log(jax.random.uniform(b)) < 0.5 * ((x - 2) ** 2 - (new - 2) ** 2)
            x = jnp.where(accept, new, x)
            return x, x
        chain = jax.jit(lambda key: jax.lax.scan(step, jnp.float32(0), jax.random.split(key, 1500))[1])
        samples = np.asarray(jax.vmap(chain)(jax.random.split(jax.random.key(0), 8)))[:, 200:]
        assert abs(samples.mean() - 2) < 0.1 and abs(samples.std() - 1) < 0.08, (samples.mean(), samples.std())
        """,
    "Hamiltonian Monte Carlo": """
        a = jnp.float32([[2, 0.6], [0.6, 1]])
        potential = lambda x: 0.5 * x @ a @ x
        def leapfrog(s, _):
            x, p = s
            p = p - 0.1 * jax.grad(potential)(x)
            x = x + 0.2 * p
            return (x, p - 0.1 * jax.grad(potential)(x)), None
        def step(x, key):
            a_, b = jax.random.split(key)
            p = jax.random.normal(a_, (2,))
            (y, r), _ = jax.lax.scan(leapfrog, (x, p), None, length=8)
            change = potential(x) + p @ p / 2 - potential(y) - r @ r / 2
            x = jnp.where(jnp.log(jax.random.uniform(b)) < change, y, x)
            return x, x
        _, xs = jax.jit(lambda k: jax.lax.scan(step, jnp.zeros(2), jax.random.split(k, 3000)))(jax.random.key(1))
        np.testing.assert_allclose(np.cov(np.asarray(xs).T), np.linalg.inv([[2, 0.6], [0.6, 1]]), atol=0.15)
        """,
    "k-means finds three clouds": """
        rng = np.random.default_rng(0)
        centres = np.float32([[0, 0], [5, 5], [0, 6]])
        x = np.concatenate([c + 0.3 * rng.standard_normal((50, 2)) for c in centres]).astype(np.float32)
        def step(_, c):
            nearest = jnp.argmin(((x[:, None] - c) ** 2).sum(-1), 1)
            hot = jax.nn.one_hot(nearest, 3)
            return (hot.T @ x) / jnp.maximum(hot.sum(0)[:, None], 1)
        found = jax.jit(lambda c: jax.lax.fori_loop(0, 10, step, c))(x[jnp.array([0, 60, 120])])
        expected = [x[i : i + 50].mean(0) for i in (0, 50, 100)]
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
        """,
    "Gaussian process regression": """
        x, y = np.linspace(0, 5, 12), np.sin(np.linspace(0, 5, 12))
        at = np.linspace(0.2, 4.8, 7)
        def posterior(xp, solve, x, y, at):
            k = lambda a, b: xp.exp(-0.5 * (a[:, None] - b) ** 2)
            gram = k(x, x) + 1e-3 * xp.eye(12)
            return k(at, x) @ solve(gram, y), 1 - xp.sum(k(at, x).T * solve(gram, k(x, at)), 0)
        mean, variance = posterior(np, np.linalg.solve, x, y, at)
        def solve(a, b):
            return jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a, lower=True), b)
        found = jax.jit(lambda *v: posterior(jnp, solve, *v))(*(v.astype(np.float32) for v in (x, y, at)))
        np.testing.assert_allclose(found[0], mean, atol=2e-3)
        np.testing.assert_allclose(found[1], variance, atol=2e-3)
        """,
    "a diffusion sampler with the exact score": """
        steps = 200
        beta = jnp.linspace(1e-4, 0.05, steps)
        alpha = jnp.cumprod(1 - beta)
        def step(x, inputs):
            b, a, key = inputs
            variance = a * 0.25 + 1 - a          # of data from a Gaussian of mean 2 and deviation 0.5
            score = -(x - jnp.sqrt(a) * 2) / variance
            return (x + b * score) / jnp.sqrt(1 - b) + jnp.sqrt(b) * jax.random.normal(key, x.shape), None
        keys = jax.random.split(jax.random.key(0), steps)
        start = jax.random.normal(jax.random.key(1), (2000,))
        x, _ = jax.jit(lambda x: jax.lax.scan(step, x, (beta, alpha, keys), reverse=True))(start)
        x = np.asarray(x)
        assert abs(x.mean() - 2) < 0.06 and abs(x.std() - 0.5) < 0.06, (x.mean(), x.std())
        """,
    "beam search finds the best path": """
        rng = np.random.default_rng(0)
        score = np.log(rng.dirichlet(np.ones(5), (4, 5))).astype(np.float32)   # [step, from, to]
        @jax.jit
        def search(score):
            def step(state, table):
                best, last, paths = state
                top, i = jax.lax.top_k((best[:, None] + table[last]).reshape(-1), 5)
                return (top, i % 5, jnp.concatenate([paths[i // 5][:, 1:], (i % 5)[:, None]], 1)), None
            start = (jnp.full(5, -jnp.inf).at[0].set(0), jnp.zeros(5, int), jnp.zeros((5, 4), int))
            (best, _, paths), _ = jax.lax.scan(step, start, score)
            return best[0], paths[0]
        import itertools
        paths = {p: sum(score[t, a, b] for t, (a, b) in enumerate(zip((0, *p), p)))
                 for p in itertools.product(range(5), repeat=4)}
        best = max(paths, key=paths.get)
        value, path = search(score)
        # Five beams of five words lose no path that leads on: of each word the best is kept.
        np.testing.assert_allclose(value, paths[best], rtol=1e-4)
        assert tuple(path.tolist()) == best
        """,
    "decoding with a cache gives what it gives without": """
        rng = np.random.default_rng(0)
        q, k, v, o = (rng.standard_normal((8, 8)).astype(np.float32) / 3 for _ in range(4))
        embed = rng.standard_normal((11, 8)).astype(np.float32)
        @jax.jit
        def decode(first):
            def step(state, t):
                token, ks, vs = state
                x = jnp.asarray(embed)[token]
                ks, vs = ks.at[t].set(x @ k), vs.at[t].set(x @ v)
                w = jax.nn.softmax(jnp.where(jnp.arange(6) <= t, ks @ (x @ q), -jnp.inf))
                token = jnp.argmax((w @ vs) @ o @ embed.T)
                return (token, ks, vs), token
            return jax.lax.scan(step, (first, jnp.zeros((6, 8)), jnp.zeros((6, 8))), jnp.arange(6))[1]
        tokens = [3]
        for _ in range(6):
            x = embed[tokens]
            s = (x @ k) @ (x[-1] @ q)
            w = np.exp(s - s.max())
            tokens.append(int(np.argmax((w / w.sum()) @ (x @ v) @ o @ embed.T)))
        assert decode(jnp.int32(3)).tolist() == tokens[1:]
        """,
    "principal components by svd": """
        rng = np.random.default_rng(0)
        x = (rng.standard_normal((100, 3)) * [5, 2, 0.5]) @ np.linalg.qr(rng.standard_normal((3, 3)))[0]
        x = x.astype(np.float32)
        centred = x - x.mean(0)
        _, s, vt = jax.jit(lambda a: jnp.linalg.svd(a - a.mean(0), full_matrices=False))(x)
        values, vectors = np.linalg.eigh(centred.T @ centred)
        np.testing.assert_allclose(np.asarray(s) ** 2, values[::-1], rtol=1e-3)
        np.testing.assert_allclose(np.abs(np.sum(np.asarray(vt) * vectors.T[::-1], 1)), np.ones(3), atol=1e-3)
        """,
    "least squares, the pseudoinverse and the rank": """
        rng = np.random.default_rng(0)
        a = rng.standard_normal((20, 4)).astype(np.float32)
        b = rng.standard_normal(20).astype(np.float32)
        expected = np.linalg.lstsq(a, b, rcond=None)[0]
        np.testing.assert_allclose(jnp.linalg.lstsq(a, b)[0], expected, rtol=1e-3, atol=1e-4)
        np.testing.assert_allclose(jnp.linalg.pinv(a), np.linalg.pinv(a), atol=1e-4)
        low = a[:, :2] @ a[:6, :2].T
        assert int(jnp.linalg.matrix_rank(low)) == 2
        np.testing.assert_allclose(jnp.linalg.norm(a, 2), np.linalg.norm(a, 2), rtol=1e-4)
        np.testing.assert_allclose(jnp.linalg.cond(a), np.linalg.cond(a), rtol=1e-3)
        np.testing.assert_allclose(jnp.polyfit(b, 3 * b**2 - b + 2, 2), [3, -1, 2], atol=1e-3)
        """,
    "the spectrum of a chain of springs": """
        n = 20
        chain = 2 * jnp.eye(n) - jnp.eye(n, k=1) - jnp.eye(n, k=-1)
        w, v = jax.jit(jnp.linalg.eigh)(chain)
        np.testing.assert_allclose(w, 2 - 2 * np.cos(np.pi * np.arange(1, n + 1) / (n + 1)), atol=1e-4)
        mode = np.sin(np.pi * np.arange(1, n + 1) / (n + 1))
        np.testing.assert_allclose(np.abs(v[:, 0]), mode / np.linalg.norm(mode), atol=1e-4)
        slope = jax.jit(jax.grad(lambda k: jnp.linalg.eigvalsh(k * chain)[-1]))(1.0)
        np.testing.assert_allclose(slope, w[-1], rtol=1e-4)
        """,
    "conjugate gradients": """
        a = np.random.default_rng(0).standard_normal((12, 12)).astype(np.float32)
        a = a @ a.T + 5 * np.eye(12, dtype=np.float32)
        b = np.ones(12, np.float32)
        x, _ = jax.scipy.sparse.linalg.cg(lambda v: a @ v, b, tol=1e-6)
        np.testing.assert_allclose(a @ np.asarray(x), b, atol=1e-3)
        """,
    "BFGS finds the minimum of a valley": """
        from jax.scipy.optimize import minimize
        f = lambda x: (1 - x[0]) ** 2 + 2 * (x[1] - x[0] ** 2) ** 2
        found = minimize(f, jnp.float32([0.2, 0.5]), method="BFGS", tol=1e-4)
        np.testing.assert_allclose(found.x, [1, 1], atol=2e-2)
        """,
    "logistic regression by Newton's method": """
        rng = np.random.default_rng(0)
        x = np.concatenate([rng.standard_normal((200, 2)), np.ones((200, 1))], 1).astype(np.float32)
        y = (rng.random(200) < 1 / (1 + np.exp(-x @ [1, -2, 0.5]))).astype(np.float32)
        loss = lambda w: jnp.mean(jax.nn.softplus(x @ w) - y * (x @ w)) + 0.005 * w @ w
        step = jax.jit(lambda w: w - jnp.linalg.solve(jax.hessian(loss)(w), jax.grad(loss)(w)))
        w = jnp.zeros(3)
        for _ in range(8):
            w = step(w)
        w = np.asarray(w, np.float64)
        gradient = x.T @ (1 / (1 + np.exp(-x @ w)) - y) / 200 + 0.01 * w
        np.testing.assert_allclose(gradient, np.zeros(3), atol=1e-5)
        """,
    "the forward algorithm of a hidden Markov model": """
        a, e, p = np.float32([[0.9, 0.1], [0.3, 0.7]]), np.float32([[0.8, 0.2], [0.1, 0.9]]), np.float32([0.5, 0.5])
        seen = np.array([0, 0, 1, 1, 0])
        def step(state, o):
            logs = jax.nn.logsumexp(state[:, None] + jnp.log(a), 0) + jnp.log(e)[:, o]
            return logs, None
        start = jnp.log(p) + jnp.log(e)[:, seen[0]]
        total = jax.nn.logsumexp(jax.jit(lambda s: jax.lax.scan(step, s, seen[1:])[0])(start))
        import itertools
        expected = sum(p[z[0]] * e[z[0], seen[0]] * np.prod([a[i, j] * e[j, o] for i, j, o in zip(z, z[1:], seen[1:])])
                       for z in itertools.product((0, 1), repeat=5))
        np.testing.assert_allclose(np.exp(total), expected, rtol=1e-4)
        """,
    "heat spreads as it should": """
        n = 64
        x = np.arange(n)
        start = np.sin(2 * np.pi * x / n).astype(np.float32)
        step = lambda _, u: u + 0.2 * (jnp.roll(u, 1) - 2 * u + jnp.roll(u, -1))
        u = jax.jit(lambda u: jax.lax.fori_loop(0, 100, step, u))(start)
        factor = (1 - 0.4 * (1 - np.cos(2 * np.pi / n))) ** 100
        np.testing.assert_allclose(u, factor * start, atol=1e-4)
        """,
    "the game of life: a glider comes back": """
        board = np.zeros((8, 8), np.int32)
        for place in [(0, 1), (1, 2), (2, 0), (2, 1), (2, 2)]:
            board[place] = 1
        @jax.jit
        def step(b):
            shifts = [(i, j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0)]
            n = sum(jnp.roll(b, s, (0, 1)) for s in shifts)
            return ((n == 3) | ((b == 1) & (n == 2))).astype(jnp.int32)
        b = board
        for _ in range(4):
            b = step(b)
        assert (np.asarray(b) == np.roll(board, (1, 1), (0, 1))).all()
        """,
    "the Mandelbrot set in complex numbers": """
        c = jnp.complex64([0, -1, 1j, 1, 0.5 + 0.5j, -2])
        @jax.jit
        def escapes(c):
            def step(_, s):
                z, n = s
                z = jnp.where(jnp.abs(z) <= 2, z * z + c, z)
                return z, n + (jnp.abs(z) <= 2)
            return jax.lax.fori_loop(0, 50, step, (jnp.zeros_like(c), jnp.zeros(c.shape, int)))[1]
        expected = []
        for v in np.asarray(c).tolist():
            z, n = 0, 0
            for _ in range(50):
                z = z * z + v if abs(z) <= 2 else z
                n += abs(z) <= 2
            expected.append(n)
        assert escapes(c).tolist() == expected
        """,
    "images: resizing, edges and rotation": """
        ramp = jnp.broadcast_to(jnp.arange(8.0)[:, None], (8, 8))
        half = jax.image.resize(ramp, (4, 8), "linear", antialias=False)
        np.testing.assert_allclose(half[:, 0], [0.5, 2.5, 4.5, 6.5], atol=1e-5)
        sobel = jnp.float32([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
        edges = jax.scipy.signal.convolve2d(ramp, sobel, mode="valid")
        np.testing.assert_allclose(edges, np.full((6, 6), 8.0), atol=1e-4)
        assert jnp.rot90(ramp)[0].tolist() == list(range(8))
        """,
    "interpolation on a grid": """
        from jax.scipy.interpolate import RegularGridInterpolator
        x, y = np.linspace(0, 1, 5), np.linspace(0, 2, 7)
        values = 2 * x[:, None] - 3 * y[None] + 1
        f = RegularGridInterpolator((jnp.asarray(x), jnp.asarray(y)), jnp.asarray(values, jnp.float32))
        at = np.float32([[0.1, 0.3], [0.77, 1.9]])
        np.testing.assert_allclose(f(at), 2 * at[:, 0] - 3 * at[:, 1] + 1, rtol=1e-4, atol=1e-5)
        """,
    "sequence alignment by dynamic programming": """
        a, b = np.array([1, 2, 3, 4, 2]), np.array([2, 3, 1, 4, 4, 2])
        @jax.jit
        def distance(a, b):
            first = jnp.arange(len(b) + 1)
            def row(before, x):
                def cell(left, inputs):
                    y, up, corner = inputs
                    value = jnp.minimum(jnp.minimum(left, up) + 1, corner + (x != y))
                    return value, value
                start = before[0] + 1
                _, rest = jax.lax.scan(cell, start, (b, before[1:], before[:-1]))
                return jnp.concatenate([start[None], rest]), None
            return jax.lax.scan(row, first, a)[0][-1]
        table = np.zeros((6, 7), int)
        table[:, 0], table[0] = np.arange(6), np.arange(7)
        for i in range(1, 6):
            for j in range(1, 7):
                changed = table[i - 1, j - 1] + (a[i - 1] != b[j - 1])
                table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, changed)
        assert int(distance(a, b)) == table[-1, -1]
        """,
    "quantised weights in 4 bits": """
        w = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
        x = np.random.default_rng(1).standard_normal((3, 16)).astype(np.float32)
        scale = np.abs(w).max(0) / 7
        q = jax.jit(lambda w: jnp.clip(jnp.round(w / scale), -7, 7).astype(jnp.int4))(w)
        assert q.dtype == jnp.int4
        expected = np.clip(np.round(w / scale), -7, 7)
        assert (np.asarray(q).astype(np.float32) == expected).mean() > 0.98
        found = jax.jit(lambda x, q: (x @ q.astype(jnp.float32)) * scale)(x, q)
        np.testing.assert_allclose(found, x @ (np.asarray(q).astype(np.float32) * scale), rtol=1e-3, atol=1e-3)
        """,
    "factorizations do not depend on JAX's settings": """
        import jax.scipy.linalg
        from jax import lax

        def matrix(random, dtype, *shape):
            a = random.standard_normal((2, *shape)).astype(np.float32)
            return (a[0] + 1j * a[1] if np.dtype(dtype).kind == "c" else a[0]).astype(dtype)

        def functions(dtype):
            random = np.random.default_rng(0)
            a, b = matrix(random, dtype, 4, 4), matrix(random, dtype, 2, 5, 3)
            s = a @ a.conj().T + 3 * np.eye(4, dtype=dtype)
            yield "cholesky", lambda: jnp.linalg.cholesky(np.stack([s, s]))
            yield "qr", lambda: jnp.abs(jnp.linalg.qr(b)[1])
            yield "qr with pivots", lambda: jnp.abs(jax.scipy.linalg.qr(b[0], pivoting=True)[1])
            yield "eigh", lambda: jnp.linalg.eigh(s)[0]
            yield "eigh by QR", lambda: lax.linalg.eigh(s, implementation=lax.linalg.EighImplementation.QR)[1]
            yield "svd", lambda: jnp.linalg.svd(b)[1]
            yield "hessenberg", lambda: lax.linalg.hessenberg(a)
            yield "tridiagonal", lambda: lax.linalg.tridiagonal(s)
            yield "tridiagonal of the upper triangle", lambda: lax.linalg.tridiagonal(s, lower=False)
            yield "the orthogonal factor", lambda: jnp.abs(jnp.linalg.qr(b)[0])
            yield "triangular_solve", lambda: lax.linalg.triangular_solve(s, b[0, :4], left_side=True, lower=True)
            yield "lu", lambda: jax.scipy.linalg.lu(a)
            yield "prod", lambda: jnp.prod(b, axis=(0, 2))
            yield "eig", lambda: jnp.sort(jnp.abs(jnp.linalg.eig(a)[0]))
            yield "schur", lambda: jnp.sum(jnp.abs(lax.linalg.schur(a)[0]))
            for i, perturb in enumerate((False, True)):
                yield f"tridiagonal_solve {i}", lambda p=perturb: lax.linalg.tridiagonal_solve(
                    a[0], a[1] + np.asarray(9, dtype), a[2], a[:, :2], perturb_singular=p)
            yield "singular tridiagonal_solve", lambda: lax.linalg.tridiagonal_solve(
                *np.ones((3, 2, 4), dtype), np.ones((2, 4, 1), dtype), perturb_singular=True)
            yield "solve", lambda: jnp.linalg.solve(a, b[0, :4])
            yield "normal", lambda: jax.random.normal(jax.random.key(3), (5,), np.float32)
            yield "mulhi", lambda: lax.mulhi(np.int32([2**30, -7]), np.int32([-(2**29), 2**31 - 1]))

        settings = [
            {},
            {"numpy_dtype_promotion": "strict", "numpy_rank_promotion": "raise"},
            {"numpy_dtype_promotion": "strict", "numpy_rank_promotion": "raise", "enable_x64": True},
            {"debug_nans": True, "debug_infs": True, "enable_checks": True, "check_tracer_leaks": True},
            {"disable_jit": True, "default_matmul_precision": "bfloat16"},
            {"error_checking_behavior_nan": "raise", "error_checking_behavior_divide": "raise", "scan3": True},
            {"legacy_prng_key": "error", "debug_key_reuse": True, "check_static_indices": True},
        ]
        on_cpu = {}  # by the first settings with a type: those of JAX alone
        for setting in settings:
            before = {name: getattr(jax.config, f"jax_{name}") for name in setting}
            for name, value in setting.items():
                jax.config.update(f"jax_{name}", value)
            types = (np.float64, np.complex128) if setting.get("enable_x64") else (np.float32, np.complex64)
            for dtype in types:
                for name, function in functions(dtype):
                    found = [np.asarray(x) for x in jax.tree.leaves(function())]
                    if (dtype, name) not in on_cpu:
                        with jax.default_device(jax.devices("cpu")[0]):
                            on_cpu[dtype, name] = [np.asarray(x) for x in jax.tree.leaves(function())]
                    expected = on_cpu[dtype, name]
                    assert len(found) == len(expected) > 0
                    for x, y in zip(found, expected):
                        assert x.dtype == y.dtype, (setting, name, x.dtype, y.dtype)
                        np.testing.assert_allclose(
                            x, y, rtol=2e-3, atol=2e-4, err_msg=f"{name} of {dtype.__name__} with {setting}")
            for name, value in before.items():
                jax.config.update(f"jax_{name}", value)
        """,
    "integers for booleans of triangular_solve": """
        import itertools
        a, b = np.float32([[2, 1], [3, 4]]), np.float32([[1, 2, 3], [4, 5, 6]])
        for matrix in (a, a + 1j * a):
            for flags in itertools.product((0, 1), repeat=4):
                names = dict(zip(("lower", "transpose_a", "conjugate_a", "unit_diagonal"), flags))
                for left, right in ((1, b), (0, b.T)):
                    x = jax.lax.linalg.triangular_solve(matrix, right.astype(matrix.dtype), left_side=left, **names)
                    with jax.default_device(jax.devices("cpu")[0]):
                        y = jax.lax.linalg.triangular_solve(matrix, right.astype(matrix.dtype), left_side=left, **names)
                    np.testing.assert_allclose(x, y, rtol=1e-4)
        """,
    "integers of 64 bits: hashes and generators, also in loops and branches": """
        jax.config.update("jax_enable_x64", True)
        u, scan, fori = np.uint64, jax.lax.scan, jax.lax.fori_loop
        def halves(x):
            return (x >> u(32)).astype(jnp.uint32), (x & u(0xFFFFFFFF)).astype(jnp.uint32)
        def mixed(x):
            z = x + u(0x9E3779B97F4A7C15)
            z = (z ^ (z >> u(30))) * u(0xBF58476D1CE4E5B9)
            z = (z ^ (z >> u(27))) * u(0x94D049BB133111EB)
            return z ^ (z >> u(31))
        def shifted(x):
            x = x ^ (x << u(13))
            x = x ^ (x >> u(7))
            return x ^ (x << u(17))
        def congruential(x):
            return x * u(6364136223846793005) + u(1442695040888963407)
        def product(a):
            return ((a.astype(u) * a[::-1].astype(u)) >> u(32)).astype(jnp.uint32)
        x = np.arange(5, dtype=u)
        words = np.random.default_rng(0).integers(0, 2**32, (5, 2)).astype(np.uint32)
        join = lambda w: jax.lax.bitcast_convert_type(w, u)
        for f, a in [
            (lambda x: scan(lambda s, _: (mixed(s), halves(s)), x, None, length=3)[1], x),
            (lambda x: halves(fori(0, 4, lambda i, s: shifted(s), x ^ u(88172645463325252))), x),
            (lambda x: halves(scan(lambda s, _: (congruential(s), s), x, None, length=3)[1]), x),
            (lambda x: jax.lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, mixed(s[1])), (0, x))[1] >> 33, x),
            (lambda x: halves(jax.lax.cond(x[0] > 3, lambda a: a, mixed, x)), x),
            (lambda x: halves(jax.lax.switch(x[1].astype(int), [mixed, congruential, shifted], x)), x),
            (lambda x: halves(mixed(x)[(x % u(3)).astype(int)]), x),
            (lambda x: halves(jnp.array([1, 2**40, 5])[x.astype(int) % 3].astype(u)), x),
            (lambda x: scan(lambda s, _: ((s * 1103515245 + 12345) % 2**31, s), x, None, length=5)[1], x.astype(int)),
            (lambda x: (x * 1103515245 + 12345) % 2**31, x.astype(int)),
            (lambda x: (jnp.minimum(x, 2**40), jnp.clip(x - 3, -(2**33), 2)), x.astype(int)),
            (lambda x: jnp.searchsorted(x, 2**40), x.astype(int)),
            (lambda x: (((x << 32) // 3) >> 32, (x * 2**32) // 3 >> 32), x.astype(int) - 2),
            (lambda w: product(w[:, 0]), words),
            (lambda w: (((w[:, 0].astype(u) << u(32)) | w[:, 1]) >> u(40)).astype(jnp.int32), words),
            (lambda w: (join(w) < join(w[::-1]), jax.lax.bitcast_convert_type(join(w) + u(7), jnp.uint32)), words),
        ]:
            with jax.default_device(jax.devices("cpu")[0]):
                expected = [np.asarray(y) for y in jax.tree.leaves(jax.jit(f)(a))]
            found = [np.asarray(y) for y in jax.tree.leaves(jax.jit(f)(a))]
            for y, z in zip(found, expected, strict=True):
                assert y.dtype == z.dtype and np.array_equal(y, z), (y, z)
        for f in (lambda x: mixed(x).sum(), lambda x: jnp.argsort(fori(0, 2, lambda i, s: mixed(s), x)), mixed,
                  lambda x: join(words) + x):
            try:
                jax.jit(f)(x)
                raise AssertionError("needs 64 bits")
            except Exception as error:
                assert "does not fit into 'ui64'" in str(error) or "may need 64 bits" in str(error), error
        """,
    "keys of seeds with 64 bits": """
        jax.config.update("jax_enable_x64", True)
        for seed in (0, 1, -1, -7, 2**31 - 1, -(2**31)):
            for make in (jax.random.PRNGKey, jax.jit(jax.random.PRNGKey)):
                with jax.default_device(jax.devices("cpu")[0]):
                    expected = np.asarray(make(seed))
                assert np.array_equal(make(seed), expected), (seed, np.asarray(make(seed)), expected)
        try:
            jax.random.PRNGKey(2**31)
            raise AssertionError("2^31 fits no 32 bits")
        except ValueError as error:
            assert "has the value 2147483648" in str(error), error
        key = jax.random.key(3)
        for draw in (lambda: jax.random.normal(key, (9,), np.float32), lambda: jax.random.permutation(key, 9),
                     lambda: jax.random.randint(key, (9,), -5, 9, np.int32)):
            with jax.default_device(jax.devices("cpu")[0]):
                expected = np.asarray(draw())
            np.testing.assert_allclose(draw(), expected, rtol=1e-5)
        """,
    "tridiagonal systems that are singular, for inverse iteration": """
        random = np.random.default_rng(1)
        for size in (2, 3, 33):
            d, e = random.standard_normal(size), random.standard_normal(size - 1)
            w, v = np.linalg.eigh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1))
            k = size // 2
            rows = np.float32([[0, *e], d - w[k], [*e, 0]])
            right = random.standard_normal((size, 1)).astype(np.float32)
            x = np.asarray(jax.lax.linalg.tridiagonal_solve(*rows, right, perturb_singular=True))[:, 0]
            assert np.isfinite(x).all() and abs(x @ v[:, k]) / np.linalg.norm(x) > 1 - 1e-5
        """,
    "eigenvalues by the QDWH method": """
        a = np.random.default_rng(0).standard_normal((2, 40, 40)).astype(np.float32)
        a = a + a.swapaxes(1, 2)
        method = jax.lax.linalg.EighImplementation.QDWH
        v, w = jax.lax.linalg.eigh(a, implementation=method, subset_by_index=(3, 9))
        np.testing.assert_allclose(w, np.linalg.eigvalsh(a)[:, 3:9], rtol=1e-4, atol=1e-4)
        np.testing.assert_allclose(a @ v, v * w[:, None], atol=1e-3)
        """,
    "nearest neighbours by approx_max_k": """
        rng = np.random.default_rng(0)
        data, queries = rng.standard_normal((300, 8)).astype(np.float32), rng.standard_normal((4, 8)).astype(np.float32)
        _, found = jax.jit(lambda q, d: jax.lax.approx_max_k(q @ d.T, 5))(queries, data)
        expected = np.argsort(-(queries @ data.T), 1)[:, :5]
        assert (np.sort(found, 1) == np.sort(expected, 1)).mean() >= 0.95
        """,
}
