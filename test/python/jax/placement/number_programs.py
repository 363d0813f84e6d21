# SPDX-License-Identifier: Apache-2.0
"""Programs of linear algebra, convolutions and bit casts. JAX's CPU has the values to compare with."""

LINALG = {
    "tridiagonal systems that are singular": """
        n = 8
        d, u, l, b = np.zeros(n, np.float32), np.ones(n, np.float32), np.ones(n, np.float32), normal(n, 2)
        l[0] = u[-1] = 0
        for d in [d, np.ones(n, np.float32) * 2]:
            got = lax.linalg.tridiagonal_solve(l, d, u, b, perturb_singular=True)
            m = np.diag(d) + np.diag(l[1:], -1) + np.diag(u[:-1], 1)
            close(m @ np.asarray(got), b, 1e-4)
        """,
    "tridiagonal systems with a row of zeros": """
        l, d, u = (np.array(x, np.float32) for x in ([0, 0, 1], [1, 0, 1], [1, 0, 0]))
        got = np.asarray(lax.linalg.tridiagonal_solve(l, d, u, np.ones((3, 1), np.float32), perturb_singular=True))
        assert np.isfinite(got).all()
        """,
    "batches of tridiagonal systems, split": """
        n = 6
        l, d, u, b = normal(8, n), normal(8, n) + 5, normal(8, n), normal(8, n, 2)
        l[:, 0] = u[:, -1] = 0
        s = NamedSharding(mesh_of(Auto), P("x"))
        matrices = [np.diag(d[i]) + np.diag(l[i][1:], -1) + np.diag(u[i][:-1], 1) for i in range(8)]
        for perturb in (False, True):
            f = jax.jit(functools.partial(lax.linalg.tridiagonal_solve, perturb_singular=perturb))
            close(f(*(jax.device_put(x, s) for x in (l, d, u, b))), np.linalg.solve(matrices, b), 1e-4)
        """,
    "tridiagonal systems under strict promotion": """
        with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
            d, u, l = np.full(5, 4, np.float32), np.ones(5, np.float32), np.ones(5, np.float32)
            l[0] = u[-1] = 0
            b = normal(5, 1)
            m = np.diag(d) + np.diag(l[1:], -1) + np.diag(u[:-1], 1)
            for perturb in (False, True):
                got = jax.jit(functools.partial(lax.linalg.tridiagonal_solve, perturb_singular=perturb))(l, d, u, b)
                close(m @ np.asarray(got), b, 1e-4)
        """,
    "eigenvalues by QR": """
        a = normal(3, 6, 6)
        a = a + a.swapaxes(1, 2)
        for kind in [lax.linalg.EighImplementation.QR, None, lax.linalg.EighImplementation.JACOBI]:
            if kind is not None and jax.default_backend() == "cpu" and kind.name != "QR":
                continue
            v, w = jax.jit(functools.partial(lax.linalg.eigh, implementation=kind))(a)
            v, w = np.asarray(v), np.asarray(w)
            close((v * w[:, None]) @ v.swapaxes(1, 2), a, 1e-4)
            close(w, np.linalg.eigvalsh(a), 1e-4)
        """,
    "eigenvalues by QR of complex matrices, split": """
        a = normal(8, 4, 4) + 1j * normal(8, 4, 4)
        a = (a + a.conj().swapaxes(1, 2)).astype(np.complex64)
        x = jax.device_put(a, NamedSharding(mesh_of(Auto), P("x")))
        f = functools.partial(lax.linalg.eigh, implementation=lax.linalg.EighImplementation.QR)
        close(jax.jit(lambda x: f(x)[1])(x), np.linalg.eigvalsh(a), 1e-4)
        """,
    "linear algebra under strict promotion": """
        a = normal(4, 4)
        s = a @ a.T + 4 * np.eye(4, dtype=np.float32)
        with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
            close(jax.jit(jnp.linalg.inv)(s), np.linalg.inv(s), 1e-4)
            close(jax.jit(jnp.linalg.cholesky)(s), np.linalg.cholesky(s), 1e-4)
            close(jax.jit(lambda s: jnp.linalg.eigh(s)[0])(s), np.linalg.eigvalsh(s), 1e-4)
            close(jax.jit(lambda s: jnp.linalg.svd(s, compute_uv=False))(a), np.linalg.svd(a, compute_uv=False), 1e-4)
            close(jnp.abs(jax.jit(lambda s: jnp.linalg.qr(s)[1])(a)), np.abs(np.linalg.qr(a)[1]), 1e-4)
            close(jax.jit(jnp.linalg.det)(s), np.linalg.det(s), 1e-4)
        """,
    "solves with the gradients of all operands": """
        a, b = normal(4, 4) + 4 * np.eye(4, dtype=np.float32), normal(4, 2)
        g, h = jax.jit(jax.grad(lambda a, b: jnp.linalg.solve(a, b).sum(), (0, 1)))(a, b)
        one = np.linalg.solve(a.T, np.ones((4, 2), np.float32))
        close(h, one, 1e-4)
        close(g, -one @ np.linalg.solve(a, b).T, 1e-4)
        """,
    "triangular solves of split batches": """
        a, b = np.tril(normal(8, 4, 4)) + 4 * np.eye(4, dtype=np.float32), normal(8, 4, 2)
        s = NamedSharding(mesh_of(Auto), P(("x", "y")))
        f = jax.jit(lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True))
        close(f(jax.device_put(a, s), jax.device_put(b, s)), np.linalg.solve(a, b), 1e-4)
        """,
    "least squares, pseudo-inverses and exponentials": """
        a, b = normal(8, 4), normal(8, 2)
        close(jnp.linalg.lstsq(a, b)[0], np.linalg.lstsq(a, b)[0], 1e-3)
        close(jnp.linalg.pinv(a), np.linalg.pinv(a), 1e-3)
        import scipy.linalg
        close(jax.scipy.linalg.expm(a[:4]), scipy.linalg.expm(a[:4]), 1e-4)
        """,
}

BITS = {
    "int4 to int8 and back": """
        v = (np.arange(32) % 16 - 8).astype(jnp.int4).reshape(4, 4, 2)
        y = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.int8))(v)
        wide = v.astype(np.int8).view(np.uint8) & 15
        want = (wide[..., 0] | wide[..., 1] << 4).view(np.int8)
        same(y, want)
        back = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.int4))(want)
        same(np.asarray(back).astype(np.int8), v.astype(np.int8))
        """,
    "uint4 to 32 bits and back": """
        words = np.array([[0x76543210, 0xFEDCBA98], [0x01234567, 0x89ABCDEF]], np.uint32)
        y = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.uint4))(words)
        assert y.shape == (2, 2, 8)
        want = (words[..., None] >> (4 * np.arange(8, dtype=np.uint32))) & 15
        same(np.asarray(y).astype(np.uint32), want)
        same(jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.uint32))(y), words)
        f = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.float32))(y)
        same(np.asarray(f).view(np.uint32), words)
        """,
    "int4 to uint4": """
        v = np.arange(-8, 8).astype(jnp.int4)
        y = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.uint4))(v)
        same(np.asarray(y).astype(np.int32), np.arange(-8, 8) & 15)
        same(np.asarray(lax.bitcast_convert_type(y, jnp.int4)).astype(np.int32), np.arange(-8, 8))
        """,
    "bits of split values": """
        v = normal(8, 16)
        x = jax.device_put(v, NamedSharding(mesh_of(Auto), P("x", "y")))
        y = jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.uint16))(x)
        same(y, v.view(np.uint16).reshape(8, 16, 2))
        z = jax.jit(lambda y: lax.bitcast_convert_type(y, jnp.float32))(y)
        same(z, v)
        """,
    "bits of small floats": """
        bits = np.arange(256).astype(np.uint8)
        for dtype in (jnp.float8_e4m3fn, jnp.float8_e5m2):
            y = jax.jit(lambda x: lax.bitcast_convert_type(x, dtype))(bits)
            same(np.isnan(np.asarray(y).astype(np.float32)), np.isnan(bits.view(dtype).astype(np.float32)))
            back = np.asarray(jax.jit(lambda x: lax.bitcast_convert_type(x, jnp.uint8))(y))
            numbers = ~np.isnan(bits.view(dtype).astype(np.float32))
            same(back[numbers], bits[numbers])
        """,
    "packed weights of 4 bits": """
        w = np.random.default_rng(1).integers(-8, 8, (16, 8)).astype(np.int8)
        packed = ((w[:, 0::2] & 15) | (w[:, 1::2] & 15) << 4).astype(np.int8)
        x = normal(4, 16)

        @jax.jit
        def f(x, packed):
            w = lax.bitcast_convert_type(packed, jnp.int4).reshape(16, 8)
            return x @ w.astype(jnp.float32)

        close(f(x, packed), x @ w.astype(np.float32))
        """,
}

CONVOLUTIONS = {
    name: f"""
        def f(x, w):
            return lax.conv_general_dilated(x, w, {arguments}, dimension_numbers={numbers})
        for dtype in (np.float32, np.int32):
            x, w = (np.round(normal(*s) * 4).astype(dtype) for s in ({left}, {right}))
            with jax.default_device(jax.devices("cpu")[0]):
                want = np.asarray(jax.jit(f)(x, w))
            close(jax.jit(f)(x, w), want)
            if {left}[0] % 8 == 0:
                s = NamedSharding(mesh_of(Auto), P("x"))
                close(jax.jit(f)(jax.device_put(x, s), w), want)
            if dtype is np.float32:
                g = jax.grad(lambda x, w: (f(x, w) ** 2).sum(), (0, 1))
                with jax.default_device(jax.devices("cpu")[0]):
                    want = jax.tree.map(np.asarray, jax.jit(g)(x, w))
                for a, b in zip(jax.jit(g)(x, w), want):
                    close(a, b, 1e-4)
        """
    for name, arguments, numbers, left, right in [
        ("dilated input", "(1,), [(2, 2)], lhs_dilation=(2,)", ("NCH", "OIH", "NCH"), (8, 3, 9), (4, 3, 3)),
        (
            "dilated input with strides",
            "(2,), [(1, 2)], lhs_dilation=(3,)",
            ("NCH", "OIH", "NCH"),
            (2, 3, 9),
            (4, 3, 3),
        ),
        ("dilated input and kernel", "(2,), [(3, 0)], (2,), (2,)", ("NHC", "HIO", "NHC"), (2, 9, 3), (3, 3, 4)),
        ("padded at the end", "(1,), [(0, 3)]", ("NHC", "HIO", "NHC"), (2, 9, 3), (3, 3, 4)),
        ("cropped at the end", "(1,), [(2, -3)]", ("NHC", "HIO", "NHC"), (2, 9, 3), (3, 3, 4)),
        (
            "images with dilated inputs",
            "(1, 1), [(1, 1), (2, 0)], (2, 3)",
            ("NCHW", "OIHW", "NCHW"),
            (8, 2, 5, 4),
            (3, 2, 3, 2),
        ),
        (
            "images with strides and a dilated input",
            "(2, 3), [(1, 1), (2, 0)], (2, 1)",
            ("NHWC", "HWIO", "NHWC"),
            (2, 5, 6, 2),
            (3, 2, 2, 3),
        ),
        ("images padded at the end", "(2, 1), [(0, 1), (0, 2)]", ("NHWC", "HWIO", "NHWC"), (8, 5, 6, 2), (3, 2, 2, 3)),
        (
            "volumes with dilated inputs",
            "(1, 1, 1), [(1, 1)] * 3, (2, 1, 2)",
            ("NCDHW", "OIDHW", "NCDHW"),
            (2, 2, 4, 3, 4),
            (3, 2, 2, 2, 2),
        ),
        (
            "volumes with strides",
            "(2, 1, 2), [(0, 1), (1, 0), (1, 1)], (1, 2, 2)",
            ("NDHWC", "DHWIO", "NDHWC"),
            (2, 4, 3, 4, 2),
            (2, 2, 2, 2, 3),
        ),
        (
            "groups",
            "(1, 1), [(1, 1)] * 2, (2, 1), feature_group_count=2",
            ("NHWC", "HWIO", "NHWC"),
            (2, 5, 6, 4),
            (3, 3, 2, 4),
        ),
        ("groups of batches", "(1,), 'VALID', batch_group_count=2", ("NCH", "OIH", "NCH"), (4, 3, 9), (4, 3, 3)),
        (
            "a transposed convolution",
            "(1, 1), [(2, 1), (2, 1)], (2, 2)",
            ("NHWC", "HWIO", "NHWC"),
            (8, 4, 4, 3),
            (3, 3, 3, 2),
        ),
    ]
}

WINDOWS = {
    "windows with dilated inputs": """
        v = np.round(normal(4, 9) * 4)
        for dtype in (np.float32, np.int32):
            x = v.astype(dtype)
            zero = np.array(0, dtype)
            f = lambda x: lax.reduce_window(x, zero, lax.add, (2, 3), (1, 2), ((1, 0), (2, 1)), (2, 1), (1, 2))
            with jax.default_device(jax.devices("cpu")[0]):
                want = np.asarray(jax.jit(f)(x))
            same(jax.jit(f)(x), want)
        """,
    "the largest of windows, and gradients": """
        x = normal(8, 8, 8, 2)
        pads = (0, 0), (0, 1), (1, 0), (0, 0)
        f = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 2, 1), (1, 2, 2, 1), pads)
        g = jax.grad(lambda x: (f(x) ** 2).sum())
        with jax.default_device(jax.devices("cpu")[0]):
            want, slope = np.asarray(jax.jit(f)(x)), np.asarray(jax.jit(g)(x))
        for s in (NamedSharding(mesh_of(Auto), P("x")), NamedSharding(mesh_of(Auto), P())):
            y = jax.device_put(x, s)
            same(jax.jit(f)(y), want)
            close(jax.jit(g)(y), slope)
        """,
    "windows of small integers": """
        x = np.random.default_rng(2).integers(0, 100, (8, 16)).astype(np.int8)
        f = lambda x: lax.reduce_window(x, np.int8(0), lax.add, (2, 2), (2, 2), "VALID")
        with jax.default_device(jax.devices("cpu")[0]):
            want = np.asarray(jax.jit(f)(x))
        same(jax.jit(f)(x), want)
        """,
}
