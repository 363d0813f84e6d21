# SPDX-License-Identifier: Apache-2.0
"""Programs for several chips, as JAX's users write them. None names a package of this project."""

HEAD = """\
import functools
import jax, jax.numpy as jnp, numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P
random = np.random.default_rng(0)
def auto_mesh(sizes, names):
    chips = np.array(jax.devices()[: np.prod(sizes)])
    return Mesh(chips.reshape(sizes), names)
def normal(*shape): return random.standard_normal(shape).astype(np.float32)
def close(a, b, by=1e-5): np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=0, atol=by * np.abs(b).max())
def on_cpu(function, *arguments):
    with jax.default_device(jax.devices("cpu")[0]):
        return jax.tree.map(np.asarray, jax.jit(function)(*jax.tree.map(np.asarray, arguments)))
"""

PROGRAMS = {
    "a data-parallel MLP with optax": """
        import optax
        mesh = auto_mesh((8,), ("batch",))
        x, w = normal(64, 16), normal(16, 1)
        y = np.tanh(x @ w)
        start = {"w1": normal(16, 32) * 0.2, "w2": normal(32, 1) * 0.2}
        optimizer = optax.adam(1e-2)

        def loss(params, x, y):
            return jnp.mean((jnp.tanh(x @ params["w1"]) @ params["w2"] - y) ** 2)

        def step(params, state, x, y):
            value, gradient = jax.value_and_grad(loss)(params, x, y)
            updates, state = optimizer.update(gradient, state, params)
            return optax.apply_updates(params, updates), state, value

        def train(step, params, state, x, y):
            losses = []
            for _ in range(8):
                params, state, value = step(params, state, x, y)
                losses.append(float(value))
            return params, losses

        split, whole = NamedSharding(mesh, P("batch")), NamedSharding(mesh, P())
        params = jax.device_put(start, whole)
        got, losses = train(
            jax.jit(step, donate_argnums=(0, 1)), params, jax.device_put(optimizer.init(params), whole),
            jax.device_put(x, split), jax.device_put(y, split))
        with jax.default_device(jax.devices("cpu")[0]):
            want, expected = train(jax.jit(step), start, optimizer.init(start), x, y)
        assert losses[-1] < losses[0]
        np.testing.assert_allclose(losses, expected, rtol=1e-4)
        for name in start:
            close(got[name], want[name], 1e-4)
        assert all(leaf.sharding.is_fully_replicated for leaf in jax.tree.leaves(got))
        """,
    "a tensor-parallel Llama block": """
        mesh = auto_mesh((2, 4), ("batch", "model"))
        B, S, D, H, F = 2, 16, 64, 8, 128
        shapes = {"q": (D, D), "k": (D, D), "v": (D, D), "o": (D, D), "gate": (D, F), "up": (D, F), "down": (F, D)}
        weights = {name: normal(*shape) / np.sqrt(shape[0]) for name, shape in shapes.items()}
        columns, rows = P(None, "model"), P("model", None)
        specs = dict(q=columns, k=columns, v=columns, o=rows, gate=columns, up=columns, down=rows)

        def norm(x): return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5)

        def rotate(x):
            half = x.shape[-1] // 2
            angle = jnp.arange(S)[:, None] / 100.0 ** (jnp.arange(half) / half)
            a, b = x[..., :half], x[..., half:]
            c, s = jnp.cos(angle)[:, None], jnp.sin(angle)[:, None]
            return jnp.concatenate([a * c - b * s, a * s + b * c], -1)

        def block(w, x):
            h = norm(x)
            q, k, v = ((h @ w[n]).reshape(B, S, H, D // H) for n in "qkv")
            scores = jnp.einsum("bshd,bthd->bhst", rotate(q), rotate(k)) / np.sqrt(D // H)
            scores = jnp.where(jnp.tril(jnp.ones((S, S), bool)), scores, -1e9)
            x = x + jnp.einsum("bhst,bthd->bshd", jax.nn.softmax(scores), v).reshape(B, S, D) @ w["o"]
            h = norm(x)
            return x + (jax.nn.silu(h @ w["gate"]) * (h @ w["up"])) @ w["down"]

        x = normal(B, S, D)
        placed = {name: jax.device_put(weights[name], NamedSharding(mesh, specs[name])) for name in weights}
        got = jax.jit(block)(placed, jax.device_put(x, NamedSharding(mesh, P("batch"))))
        close(got, on_cpu(block, weights, x))
        gradient = jax.jit(jax.grad(lambda w, x: jnp.sum(block(w, x) ** 2)))
        for name, value in gradient(placed, x).items():
            close(value, on_cpu(jax.grad(lambda w, x: jnp.sum(block(w, x) ** 2)), weights, x)[name], 1e-4)
            assert value.sharding.shard_shape(value.shape) == placed[name].sharding.shard_shape(value.shape), name
        """,
    "weights split as in FSDP": """
        mesh = auto_mesh((8,), ("fsdp",))
        split = NamedSharding(mesh, P("fsdp"))
        layers = [normal(32, 32) / 6 for _ in range(3)]
        x, y = normal(16, 32), normal(16, 32)

        def loss(layers, x, y):
            for w in layers:
                x = jnp.tanh(x @ w)
            return jnp.mean((x - y) ** 2)

        @functools.partial(jax.jit, out_shardings=([split] * 3, NamedSharding(mesh, P())))
        def step(layers, x, y):
            value, gradient = jax.value_and_grad(loss)(layers, x, y)
            return [w - 0.5 * g for w, g in zip(layers, gradient)], value

        placed = jax.device_put(layers, split)
        got, value = step(placed, jax.device_put(x, split), jax.device_put(y, split))
        assert all(w.sharding.shard_shape(w.shape) == (4, 32) for w in got)
        want, gradient = on_cpu(jax.value_and_grad(loss), layers, x, y)
        np.testing.assert_allclose(float(value), want, rtol=1e-5)
        for a, w, g in zip(got, layers, gradient):
            close(a, w - 0.5 * g)
        """,
    "ring attention": """
        mesh = auto_mesh((8,), ("ring",))
        q, k, v = normal(64, 16), normal(64, 16), normal(64, 16)

        @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("ring"), out_specs=P("ring"))
        def attention(q, k, v):
            size = lax.axis_size("ring")

            def turn(_, state):
                k, v, most, total, sums = state
                scores = q @ k.T / 4
                new = jnp.maximum(most, scores.max(-1, keepdims=True))
                scale, weights = jnp.exp(most - new), jnp.exp(scores - new)
                total, sums = total * scale + weights.sum(-1, keepdims=True), sums * scale + weights @ v
                k, v = (lax.ppermute(t, "ring", [(i, (i + 1) % size) for i in range(size)]) for t in (k, v))
                return k, v, new, total, sums

            start = lax.pcast(jnp.full((q.shape[0], 1), -jnp.inf), "ring", to="varying"), q[:, :1] * 0, v * 0
            _, _, _, total, sums = lax.fori_loop(0, size, turn, (k, v, *start))
            return sums / total

        close(jax.jit(attention)(q, k, v), on_cpu(lambda q, k, v: jax.nn.softmax(q @ k.T / 4) @ v, q, k, v))
        """,
    "a mixture of experts by all_to_all": """
        mesh = auto_mesh((4,), ("expert",))
        x, router, experts = normal(64, 16), normal(16, 4), normal(4, 16, 16) / 4

        @functools.partial(jax.shard_map, mesh=mesh, in_specs=(P("expert"), P(), P("expert")), out_specs=P("expert"))
        def layer(x, router, expert):
            chosen = jnp.argmax(x @ router, -1)
            place = jnp.cumsum(jax.nn.one_hot(chosen, 4, dtype=jnp.int32), 0)[jnp.arange(16), chosen] - 1
            boxes = jnp.zeros((4, 16, 16)).at[chosen, place].set(x)
            there = lax.all_to_all(boxes, "expert", 0, 0, tiled=True)
            back = lax.all_to_all(jnp.tanh(there @ expert[0]), "expert", 0, 0, tiled=True)
            return back[chosen, place]

        def dense(x, router, experts):
            return jnp.tanh(jnp.einsum("nd,nde->ne", x, experts[jnp.argmax(x @ router, -1)]))

        close(jax.jit(layer)(x, router, experts), on_cpu(dense, x, router, experts))
        """,
    "training with pmap": """
        x, y, w = normal(8, 4, 6), normal(8, 4, 2), normal(6, 2)

        @functools.partial(jax.pmap, axis_name="i", in_axes=(None, 0, 0), out_axes=(None, 0))
        def step(w, x, y):
            value, gradient = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
            return w - 0.1 * lax.pmean(gradient, "i"), value

        def whole(w, x, y):
            return w - 0.1 * jax.grad(lambda w: jnp.mean((x.reshape(32, 6) @ w - y.reshape(32, 2)) ** 2))(w)

        got, values = step(w, x, y)
        assert values.shape == (8,)
        close(got, on_cpu(whole, w, x, y))
        """,
    "a pipeline of stages": """
        mesh = auto_mesh((4,), ("stage",))
        batches, weights = normal(6, 8, 16), normal(4, 16, 16) / 4

        @functools.partial(
            jax.shard_map, mesh=mesh, in_specs=(P("stage"), P()), out_specs=P("stage"), check_vma=False)
        def run(w, batches):
            stage = lax.axis_index("stage")

            def tick(value, t):
                fed = jnp.where(stage == 0, batches[jnp.minimum(t, 5)], value)
                out = jnp.tanh(fed @ w[0])
                return lax.ppermute(out, "stage", [(0, 1), (1, 2), (2, 3)]), out

            return lax.scan(tick, jnp.zeros((8, 16)), jnp.arange(9))[1][None]

        got = jax.jit(run)(weights, batches)[3, 3:]
        want = batches
        for w in weights:
            want = np.tanh(want @ w)
        close(got, want)
        """,
    "axes in types": """
        mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
        with jax.set_mesh(mesh):
            a, b = normal(8, 16), normal(16, 8)
            x, y = jax.device_put(a, P("x", None)), jax.device_put(b, P(None, "y"))
            product = jax.jit(lambda x, y: jnp.sin(x @ y) * 2)(x, y)
            assert str(jax.typeof(product)) == "float32[8@x,8@y]", jax.typeof(product)
            close(product, np.sin(a @ b) * 2)
            again = jax.jit(lambda p: jax.sharding.reshard(p, P("y", None)))(product)
            assert str(jax.typeof(again)) == "float32[8@y,8]"
            np.testing.assert_array_equal(again, product)
            along = jax.device_put(a, P(None, "y"))
            inner = jax.jit(lambda x: jnp.einsum("ij,kj->ik", x, x, out_sharding=P("x", None)))(along)
            close(inner, a @ a.T)
        """,
    "three axes, and some of them manual": """
        mesh = auto_mesh((2, 2, 2), ("a", "b", "c"))
        v = normal(16, 16)
        x = jax.device_put(v, NamedSharding(mesh, P(("a", "c"), "b")))
        result = jax.jit(lambda x: jnp.tanh(x @ x.T).sum(0), out_shardings=NamedSharding(mesh, P("c")))(x)
        close(result, np.tanh(v @ v.T).sum(0))
        summed = jax.shard_map(
            lambda x: lax.psum(x, ("a", "b")), mesh=mesh, in_specs=P(("a", "c"), "b"), out_specs=P("c"))
        close(jax.jit(summed)(x), v.reshape(2, 2, 4, 2, 8).sum((0, 3)).reshape(8, 8))
        partly = jax.shard_map(
            lambda x, y: lax.psum(x, "a") @ y, mesh=mesh, in_specs=(P("a"), P()), out_specs=P(), axis_names={"a"})
        close(jax.jit(lambda x: partly(x * 2, x) + 1)(x), (2 * v).reshape(2, 8, 16).sum(0) @ v + 1)
        """,
    "partial values of explicit axes": """
        mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
        a, b = normal(4, 8), normal(8, 6)
        with jax.set_mesh(mesh):
            def product(a, b):
                return jnp.einsum("ij,jk->ik", a, b, out_sharding=P("x", None, unreduced={"y"}))
            x, y = jax.device_put(a, P("x", "y")), jax.device_put(b, P("y", None))
            for spec in [P("x", None), P("x", "y")]:
                close(jax.jit(lambda x, y: jax.reshard(product(x, y) + product(x, y), spec))(x, y), 2 * a @ b)
            gradient = jax.jit(jax.grad(lambda x, y: jax.reshard(product(x, y), P("x", None)).sum()))(x, y)
            close(gradient, np.broadcast_to(b.sum(1), (4, 8)))
            whole = jax.device_put(b, P(None, None))
            partial = jax.jit(lambda w: jax.reshard(jax.reshard(w, P(None, None, unreduced={"y"})), P(None, None)))
            np.testing.assert_array_equal(partial(whole), b)
        """,
    "gradient of a shard_map that does not use its argument": """
        for kind in [jax.sharding.AxisType.Explicit, jax.sharding.AxisType.Auto]:
            for shape, names in [((2,), ("x",)), ((2, 2), ("x", "y"))]:
                with jax.set_mesh(jax.make_mesh(shape, names, axis_types=(kind,) * len(shape))):
                    x = jax.device_put(np.arange(8, dtype=np.float32), P("x"))
                    f = jax.shard_map(lambda x: x * 2, in_specs=P("x"), out_specs=P("x"))
                    np.testing.assert_array_equal(jax.jit(jax.grad(lambda x: f(x).sum()))(x), np.full(8, 2.0))
                    np.testing.assert_array_equal(jax.jit(jax.grad(lambda x: jax.jit(f)(x).sum()))(x), np.full(8, 2.0))
        """,
    "meshes in other orders, parts of the chips, and one after another": """
        v = normal(8, 8)
        chips = np.array(jax.devices())
        for devices, axes, spec in [
            (chips[::-1], ("x",), P("x")), (chips[[5, 2, 7, 0]], ("x",), P("x")), (chips[2:4], ("x",), P(None, "x")),
            (chips.reshape(4, 2).T, ("x", "y"), P("y", "x")), (chips.reshape(2, 4)[::-1], ("x", "y"), P(("y", "x"))),
        ]:
            sharding = NamedSharding(Mesh(devices, axes), spec)
            x = jax.device_put(v, sharding)
            assert {s.device: s.index for s in x.addressable_shards} == sharding.devices_indices_map(x.shape)
            y = jax.jit(lambda x: (x * 2, x @ x))(x)
            np.testing.assert_array_equal(y[0], v * 2)
            close(y[1], v @ v)
            for shard in y[0].addressable_shards:
                np.testing.assert_array_equal(shard.data, (v * 2)[shard.index])
        meshes = [Mesh(chips.reshape(shape), ("x", "y")) for shape in [(2, 4), (4, 2)]]
        both = [jax.device_put(v, NamedSharding(mesh, P("x", "y"))) for mesh in meshes]
        close(jax.jit(jnp.matmul)(*both), v @ v)
        """,
    "donation, transfers and ops without jit": """
        mesh = auto_mesh((2, 4), ("x", "y"))
        v = np.arange(64, dtype=np.float32).reshape(8, 8)
        x = jax.device_put(v, NamedSharding(mesh, P("x", "y")))
        assert [d.memory_stats()["bytes_in_use"] > 0 for d in jax.devices()] == [True] * 8
        y = x + 1
        assert y.sharding == x.sharding and x.T.sharding.spec == P("y", "x")
        assert float(x.sum()) == v.sum() and float(x[3, 4]) == v[3, 4]
        np.testing.assert_array_equal(x[:, 3:5], v[:, 3:5])
        moved = jax.device_put(x, NamedSharding(mesh, P(None, ("y", "x"))))
        np.testing.assert_array_equal(moved, v)
        assert jax.device_put(x, jax.devices()[3]).devices() == {jax.devices()[3]}
        made = jax.make_array_from_callback((8, 8), NamedSharding(mesh, P("y")), lambda index: v[index])
        np.testing.assert_array_equal(made, v)
        z = jax.jit(lambda x: x * 2, donate_argnums=0)(x)
        assert x.is_deleted() and not y.is_deleted()
        np.testing.assert_array_equal(z, v * 2)
        """,
    "compiled ahead, and read again": """
        from jax.experimental import serialize_executable
        mesh = auto_mesh((8,), ("x",))
        split, whole = NamedSharding(mesh, P("x")), NamedSharding(mesh, P())
        v = normal(8, 8)
        jitted = jax.jit(lambda x: (x * 2, x.sum()), in_shardings=split)
        compiled = jitted.lower(jax.ShapeDtypeStruct((8, 8), np.float32)).compile()
        ((taken,), _), given = compiled.input_shardings, compiled.output_shardings
        assert taken == split and given[0].spec == P("x") and given[1].is_fully_replicated, (taken, given)
        assert compiled.memory_analysis().argument_size_in_bytes == 32 and compiled.cost_analysis()["flops"] > 0
        again = serialize_executable.deserialize_and_load(
            *serialize_executable.serialize(compiled), execution_devices=jax.devices())
        for run in (compiled, again):
            close(run(jax.device_put(v, split))[0], v * 2)
        """,
    "Python in the middle": """
        mesh = auto_mesh((4,), ("x",))
        x = jax.device_put(np.arange(8, dtype=np.float32), NamedSharding(mesh, P("x")))
        seen = []

        def double(v):
            seen.append(v.shape)
            return v * 2

        same = jax.ShapeDtypeStruct((8,), np.float32)
        more = jax.jit(lambda x: jax.pure_callback(double, same, x) + 1)(x)
        np.testing.assert_array_equal(more, np.arange(8) * 2 + 1)
        assert seen == [(8,)]
        part = jax.ShapeDtypeStruct((2,), np.float32)
        own = jax.shard_map(
            lambda x: jax.pure_callback(double, part, x), mesh=mesh, in_specs=P("x"), out_specs=P("x"))
        np.testing.assert_array_equal(jax.jit(own)(x), np.arange(8) * 2)
        assert seen[1:] == [(2,)] * 4
        """,
    "chips call Python as often as they go round": """
        from jax.experimental import io_callback
        jax.config.update("jax_num_cpu_devices", 4)
        seen = []

        def note(tag, *values):
            io_callback(lambda *v: seen.append((tag, *map(int, v))), None, *values)

        def noted(tag, v, *more):
            note(tag, v[0], *more)
            return v

        def nested(x):
            def outer(state):
                i, v = state
                # It has no end on a chip that is done.
                end = jnp.where(i < 3, 2, -1)
                v = lax.while_loop(lambda t: t[0] != end[0], lambda t: noted("inner", t, i[0]) + 1, v * 0)
                v = lax.cond(i[0] == 1, lambda v: noted("one", v), lambda v: v, v)
                return noted("outer", i) + 1, v
            return lax.while_loop(lambda state: state[0][0] < 3, outer, (x, x))[0]

        def pure(x):
            def function(v):
                seen.append(("pure", int(v[0])))
                return np.asarray(v) + 1
            part = jax.ShapeDtypeStruct((1,), np.int32)
            return lax.while_loop(lambda v: v[0] < 3, lambda v: jax.pure_callback(function, part, v), x)

        def constant(x):
            note("nothing")
            return lax.while_loop(lambda v: v[0] < 3, lambda v: (note("constant", 7), v + 1)[1], x)

        below = lambda v: noted("condition", v)[0] < 3
        functions = {
            "while": lambda x: lax.while_loop(lambda v: v[0] < 3, lambda v: noted("body", v) + 1, x),
            "condition": lambda x: lax.while_loop(below, lambda v: v + 1, x),
            "cond": lambda x: lax.cond(x[0] == 2, lambda v: noted("taken", v) * 10, lambda v: v, x),
            "switch": lambda x: lax.switch(x[0], [lambda v, k=k: noted(k, v) + k for k in range(3)], x),
            "fori": lambda x: lax.fori_loop(0, x[0], lambda i, v: noted("fori", v, i), x),
            "scan": lambda x: lax.cond(
                x[0] % 2 == 0, lambda v: lax.scan(lambda c, _: (c + 1, note("scan", c[0])), v, None, 2)[0],
                lambda v: v, x),
            "function": lambda x: lax.while_loop(lambda v: v[0] < 3, jax.jit(lambda v: noted("in", v) + 1), x),
            "nested": nested, "pure": pure, "constant": constant,
        }
        for name, function in functions.items():
            found = []
            for chips in (jax.devices()[:4], jax.devices("cpu")):
                seen.clear()
                mesh = Mesh(np.array(chips), ("x",))
                mapped = jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=False)
                x = jax.device_put(np.arange(4, dtype=np.int32), NamedSharding(mesh, P("x")))
                values = np.asarray(jax.jit(mapped)(x)).tolist()
                jax.effects_barrier()
                found.append((values, sorted(seen, key=str)))
            assert found[0] == found[1] and found[0][1], (name, *found)
        """,
    "factorizations in shard_map, which checks what varies": """
        mesh = auto_mesh((2,), ("x",))
        a = normal(4, 3, 3) + 3 * np.eye(3, dtype=np.float32)
        s, b = a @ a.swapaxes(1, 2), normal(4, 3, 2)
        for function, *arguments in (
            (jnp.linalg.solve, a, b), (jnp.linalg.solve, a.astype(np.complex64), b.astype(np.complex64)),
            (jnp.linalg.cholesky, s), (jnp.linalg.inv, a), (lambda s: jnp.linalg.eigh(s)[0], s),
            (lambda a: jnp.linalg.svd(a)[1], a), (lambda a: jnp.abs(jnp.linalg.qr(a)[1]), a),
            (lambda a: lax.linalg.hessenberg(a)[0], a), (lambda a: jnp.sort(jnp.abs(jnp.linalg.eigvals(a))), a),
        ):
            for check in (True, False):
                mapped = jax.shard_map(function, mesh=mesh, in_specs=P("x"), out_specs=P("x"), check_vma=check)
                close(jax.jit(mapped)(*arguments), on_cpu(function, *arguments), 1e-4)
        """,
    "factorizations of batches and matrices that are split": """
        mesh = auto_mesh((2, 4), ("x", "y"))
        a = normal(4, 8, 8)
        s, c = a + a.swapaxes(1, 2), (a @ a.swapaxes(1, 2) + 9 * np.eye(8) + 1j * (a - a.swapaxes(1, 2)) / 9)
        for function, x in (
            (lambda s: jnp.linalg.eigh(s)[0], s), (lambda c: jnp.abs(jnp.linalg.cholesky(c)), c.astype(np.complex64)),
            (lambda a: jnp.abs(jax.scipy.linalg.qr(a, pivoting=True)[1]), a),
            (lambda s: lax.linalg.tridiagonal(s)[1], s),
        ):
            for spec in (P("x"), P(None, "y"), P("x", None, "y")):
                close(jax.jit(function)(jax.device_put(x, NamedSharding(mesh, spec))), on_cpu(function, x), 1e-4)
        """,
    "64 bits and small types": """
        jax.config.update("jax_enable_x64", True)
        mesh = auto_mesh((8,), ("x",))
        for dtype in ("float64 int64 uint32 bool complex128 complex64 int8 uint16 float16 bfloat16").split():
            v = np.arange(16).reshape(8, 2).astype(jnp.dtype(dtype))
            x = jax.device_put(v, NamedSharding(mesh, P("x")))
            y, z = jax.jit(lambda x: (x[::-1], jnp.where(x == 3, x, 0)))(x)
            assert y.dtype == v.dtype
            np.testing.assert_array_equal(y, v[::-1])
            np.testing.assert_array_equal(z, np.where(v == 3, v, 0))
        """,
    "the compilation cache": """
        import os, pathlib, subprocess, sys, tempfile
        program = '''
        import jax, numpy as np
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        mesh = Mesh(np.array(jax.devices()[::-1]).reshape(2, 4), ("x", "y"))
        x = jax.device_put(np.arange(64, dtype=np.float32).reshape(8, 8), NamedSharding(mesh, P("x", "y")))
        y = jax.jit(lambda x: x @ x.T)(x)
        np.testing.assert_array_equal(y, np.asarray(x) @ np.asarray(x).T)
        print(y.sharding.spec)
        '''
        with tempfile.TemporaryDirectory() as folder:
            environment = os.environ | {
                "JAX_COMPILATION_CACHE_DIR": folder, "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
            import textwrap
            said = []
            for _ in range(2):
                said.append(subprocess.check_output(
                    [sys.executable, "-c", textwrap.dedent(program)], env=environment, text=True))
                kept = {p.name for p in pathlib.Path(folder).iterdir() if p.name.endswith("-cache")}
                assert kept
            assert said[0] == said[1]
        """,
    "groups along an axis, mapped, arrays made of parts": """
        v = normal(8, 8)
        row, mesh = auto_mesh((8,), ("x",)), auto_mesh((2, 4), ("x", "y"))
        halves = jax.shard_map(
            lambda v: lax.psum(v, "x", axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]),
            mesh=row, in_specs=P("x"), out_specs=P("x"), check_vma=False)
        close(jax.jit(halves)(v), np.repeat(v.reshape(2, 4, 8).sum(1), 4, 0))
        pairs = jax.shard_map(
            lambda v: lax.all_gather(v, "x", axis_index_groups=[[0, 2], [1, 3], [4, 6], [5, 7]], axis=0, tiled=True),
            mesh=row, in_specs=P("x"), out_specs=P("x"), check_vma=False)
        np.testing.assert_array_equal(jax.jit(pairs)(v)[:4], v[[0, 2, 1, 3]])
        summed = jax.shard_map(lambda v: lax.psum(v, "x"), mesh=mesh, in_specs=P("x"), out_specs=P())
        close(jax.jit(jax.vmap(summed))(np.stack([v, v * 2]))[1], (v * 2).reshape(2, 4, 8).sum(0))
        parts = [jax.device_put(v[i : i + 1], device) for i, device in enumerate(jax.devices())]
        whole = jax.make_array_from_single_device_arrays((8, 8), NamedSharding(row, P("x")), parts)
        np.testing.assert_array_equal(jax.jit(jnp.transpose)(whole), v.T)
        free = NamedSharding(mesh, P(P.UNCONSTRAINED, None))
        np.testing.assert_array_equal(jax.jit(lambda x: lax.with_sharding_constraint(x * 2, free))(v), v * 2)
        """,
    "a stencil with neighbours": """
        mesh = auto_mesh((8,), ("x",))
        v = normal(64, 8)

        @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
        def relax(u):
            def turn(_, u):
                below = lax.ppermute(u[-1:], "x", [(i, (i + 1) % 8) for i in range(8)])
                above = lax.ppermute(u[:1], "x", [(i, (i - 1) % 8) for i in range(8)])
                long = jnp.concatenate([below, u, above])
                return (long[:-2] + long[1:-1] + long[2:]) / 3
            return lax.fori_loop(0, 10, turn, u)

        want = v
        for _ in range(10):
            want = (np.roll(want, 1, 0) + want + np.roll(want, -1, 0)) / 3
        close(jax.jit(relax)(v), want)
        """,
    "GSPMD": """
        jax.config.update("jax_use_shardy_partitioner", False)
        mesh = auto_mesh((2, 4), ("x", "y"))
        v = normal(8, 8)
        x = jax.device_put(v, NamedSharding(mesh, P("x", "y")))
        y = jax.jit(lambda x: lax.with_sharding_constraint(x @ x.T, NamedSharding(mesh, P("y"))))(x)
        close(y, v @ v.T)
        assert y.sharding.shard_shape(y.shape) == (2, 8)
        summed = jax.shard_map(lambda x: lax.psum(x, "x"), mesh=mesh, in_specs=P("x", "y"), out_specs=P(None, "y"))
        close(jax.jit(lambda x: summed(x * 2) + 1)(x), (2 * v).reshape(2, 4, 8).sum(0) + 1)
        """,
}

ERRORS = {
    "more devices than there are": ('jax.make_mesh((4, 4), ("x", "y"))', "must be >= the product of mesh_shape"),
    "sizes that do not divide": (
        'jax.device_put(np.ones(7), NamedSharding(auto_mesh((4,), ("x",)), P("x")))',
        "evenly divide the shape",
    ),
    "chips of two platforms": (
        """
        cpu = jax.device_put(np.ones(4), jax.devices("cpu")[0])
        chips = jax.device_put(np.ones(4), NamedSharding(jax.make_mesh((4,), ("x",)), P("x")))
        jax.jit(jnp.add)(cpu, chips)
        """,
        "incompatible devices",
    ),
    "an axis that is not there": (
        'NamedSharding(jax.make_mesh((4,), ("x",)), P("y"))',
        "y",
    ),
    "parts that all_to_all cannot make": (
        """
        f = lambda x: lax.all_to_all(x, "x", 1, 0)
        mesh = auto_mesh((4,), ("x",))
        jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P("x")))(np.ones((8, 6), np.float32))
        """,
        "all_to_all",
    ),
    "shard_map of GSPMD along some axes": (
        """
        jax.config.update("jax_use_shardy_partitioner", False)
        f = lambda x: lax.psum(x, "x")
        mesh = auto_mesh((2, 2), ("x", "y"))
        f = jax.shard_map(f, mesh=mesh, in_specs=P("x"), out_specs=P(), axis_names={"x"})
        jax.jit(f)(np.ones((8, 8), np.float32))
        """,
        "is not that of a shard_map, manual along all axes",
    ),
    "meshes in two orders in a program": (
        """
        chips = np.array(jax.devices())
        a, b = (jax.device_put(np.ones(4), NamedSharding(Mesh(d, ("x",)), P("x"))) for d in (chips, chips[::-1]))
        jax.jit(jnp.add)(a, b)
        """,
        "incompatible devices",
    ),
}
