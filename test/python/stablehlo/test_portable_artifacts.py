# SPDX-License-Identifier: Apache-2.0
"""Portable artifacts of JAX's functions: read as jaxlib reads them, and written so that jaxlib reads the same."""

from __future__ import annotations

import base64
import io
import random
import re
from functools import cache
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from builder.base.builder_apis import load_mlir_file
from builder.base.errors import TTBuilderCompileException
from jax import lax
from jax._src.interpreters import mlir as jax_mlir
from jax.export import export
from jaxlib.mlir import ir as jax_ir
from jaxlib.mlir.dialects import stablehlo as jax_stablehlo
from ttmlir.dialects import stablehlo
from ttmlir.ir import Context, MLIRError, Module

ROOT = Path(__file__).resolve().parents[3]
VERSIONS = ["0.9.0", "0.14.0", "1.0.0", "1.5.0", "1.10.0", "1.15.0"]


def f32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def c64(*shape: int) -> Any:
    return jax.ShapeDtypeStruct(shape, jnp.complex64)


FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "mlp": (lambda x, w, b: jax.nn.softmax(jax.nn.gelu(x @ w + b)), [f32(4, 8), f32(8, 16), f32(16)]),
    "conv": (
        lambda x, w: lax.conv_general_dilated(
            x, w, (2, 1), [(1, 2), (0, 1)], rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
        ),
        [f32(1, 9, 9, 4), f32(3, 3, 4, 6)],
    ),
    "attention": (lambda q, k, v: jax.nn.dot_product_attention(q, k, v, is_causal=True), [f32(2, 6, 2, 8)] * 3),
    "sort": (lambda x: (jnp.sort(x), jnp.argsort(-x, axis=0)), [f32(5, 7)]),
    "top_k": (lambda x: lax.top_k(x, 3), [f32(5, 7)]),
    "while": (lambda x: lax.while_loop(lambda c: c[0] < 10, lambda c: (c[0] + 1, c[1] * 2), (0, x)), [f32(3)]),
    "scan": (lambda x: lax.scan(lambda c, a: (c + a, c * a), jnp.zeros(3), x), [f32(5, 3)]),
    "cond": (lambda p, x: lax.switch(p, [jnp.sin, jnp.cos, jnp.tan], x), [i32(), f32(3)]),
    "gather": (lambda x, i: x[i], [f32(9, 4), i32(3)]),
    "scatter": (lambda x, i, u: x.at[i].add(u), [f32(9, 4), i32(3), f32(3, 4)]),
    "batched_gather": (lambda x, i: jnp.take_along_axis(x, i, axis=1), [f32(9, 4), i32(9, 2)]),
    "max_pool": (
        lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME"),
        [f32(1, 7, 7, 3)],
    ),
    "max_pool_grad": (
        jax.grad(lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "SAME").sum()),
        [f32(1, 7, 7, 3)],
    ),
    "complex": (lambda x: jnp.abs(x * (1 + 2j)) + jnp.real(x) + jnp.imag(x), [c64(4)]),
    "fft": (lambda x: jnp.fft.rfft(x), [f32(3, 8)]),
    "random": (
        lambda k: jax.random.normal(jax.random.wrap_key_data(k), (4,)),
        [jax.ShapeDtypeStruct((2,), jnp.uint32)],
    ),
    "rng_bits": (lambda k: lax.rng_bit_generator(k, (4,)), [jax.ShapeDtypeStruct((4,), jnp.uint32)]),
    "bools": (lambda x: jnp.where(np.array([True, False, True, True, False, False, True, True, True]), x, 0), [f32(9)]),
    "bool_splat": (
        lambda x: jnp.where(np.ones((4, 5), bool), x, 0) + jnp.where(np.zeros((4, 5), bool), x, 0),
        [f32(4, 5)],
    ),
    "int4": (lambda x: x.astype(jnp.int4).astype(jnp.int32) + np.array([1, -2, 3], np.int8), [i32(3)]),
    "constants": (lambda x: x + np.arange(6.0, dtype=np.float32).reshape(2, 3), [f32(2, 3)]),
    "half": (lambda x: (x.astype(jnp.bfloat16) @ jnp.ones((3, 2), jnp.bfloat16)).astype(jnp.float16), [f32(2, 3)]),
    "float8": (lambda x: x.astype(jnp.float8_e4m3fn).astype(jnp.float32), [f32(2, 3)]),
    "cholesky": (lambda x: jnp.linalg.cholesky(x), [f32(4, 4)]),
    "solve": (lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), [f32(4, 4), f32(4, 2)]),
    "qr": (lambda x: jnp.linalg.qr(x), [f32(4, 4)]),
    "elementwise": (
        lambda x: (
            jnp.exp(x)
            + jnp.log1p(x)
            + lax.rsqrt(x)
            + jnp.cbrt(x)
            + lax.logistic(x)
            + jnp.expm1(x)
            + jnp.tanh(x)
            + jnp.round(x)
            + jnp.sign(x)
            + lax.erf(x)
            + lax.is_finite(x)
        ),
        [f32(3)],
    ),
    "integers": (
        lambda x, y: (x // y, x % y, x ^ y, x & y, ~x, lax.population_count(x), lax.clz(x), x << y, x >> y),
        [i32(3), i32(3)],
    ),
    "pad_slice": (lambda x: lax.pad(x, 0.0, ((1, 2, 1), (-1, 0, 0)))[::2, 1:3], [f32(4, 5)]),
    "dynamic_slice": (
        lambda x, i: lax.dynamic_update_slice(x, lax.dynamic_slice(x, (i, 0), (2, 3)), (0, i)),
        [f32(4, 5), i32()],
    ),
    "reverse": (lambda x: jnp.flip(x, 1)[..., None] + jnp.concatenate([x, x], 1)[:, :5, None], [f32(4, 5)]),
    "cumsum": (lambda x: jnp.cumsum(x, 0), [f32(4, 5)]),
    "dot_algorithm": (
        lambda x, y: lax.dot(x, y, precision=lax.DotAlgorithmPreset.BF16_BF16_F32_X3),
        [f32(4, 5), f32(5, 6)],
    ),
    "precision": (lambda x, y: jnp.dot(x, y, precision="highest"), [f32(4, 5), f32(5, 6)]),
    "reduce_precision": (lambda x: lax.reduce_precision(x, 5, 10), [f32(4)]),
    "argmax": (lambda x: (jnp.argmax(x, 1), jnp.all(x > 0), jnp.prod(x)), [f32(4, 5)]),
    "layernorm_grad": (
        jax.grad(lambda x: ((x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5)).sum()),
        [f32(4, 5)],
    ),
    "calls": (lambda x: jax.jit(lambda y: jnp.sin(y) * 2)(x) + jax.jit(lambda y: jnp.sin(y) * 2)(x + 1), [f32(4)]),
    "empty": (lambda x: jnp.zeros((0, 3), jnp.float32) + jnp.concatenate([x, x]), [f32(0, 3)]),
    "barrier": (lambda x: lax.optimization_barrier((x, x + 1)), [f32(4)]),
    "iota_clamp": (lambda x: jnp.clip(x, 0, 1) + lax.broadcasted_iota(jnp.float32, (4, 5), 1), [f32(4, 5)]),
    "lgamma": (lambda x: lax.lgamma(x) + lax.digamma(x), [f32(4)]),
}


# Functions of which older versions cannot hold some: what jaxlib refuses is refused here, too.
OLD = [
    "mlp",
    "conv",
    "sort",
    "while",
    "gather",
    "scatter",
    "max_pool_grad",
    "bools",
    "empty",
    "dot_algorithm",
    "elementwise",
]
# What other versions of the dialects have in native bytecode: attributes of builtin, properties of custom_call.
NOT_NATIVE = {"cholesky", "float8", "qr", "solve"}


@cache
def exported(name: str) -> bytes:
    function, arguments = FUNCTIONS[name]
    # Calls of a library on the host stand for what would be such on any platform.
    return export(jax.jit(function), platforms=["cpu"])(*arguments).mlir_module_serialized


def jax_context() -> Any:
    return jax_mlir.make_ir_context()


def jax_text(artifact: bytes) -> str:
    with jax_context() as context:
        return generic(jax_stablehlo.deserialize_portable_artifact(context, artifact))


def generic(module: Any) -> str:
    return str(module.operation.get_asm(print_generic_op_form=True))


def read(artifact: bytes) -> str:
    with Context() as context:
        return generic(stablehlo.deserialize_portable_artifact(context, artifact))


def parsed(text: str) -> str:
    """A text as our printer writes it."""
    with Context():
        return generic(Module.parse(text))


def written(text: str, version: str) -> bytes:
    with Context():
        return stablehlo.serialize_portable_artifact(Module.parse(text), version)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_exported_function(name: str) -> None:
    artifact = exported(name)
    expected = jax_text(artifact)
    assert "stablehlo." in expected
    assert read(artifact) == parsed(expected)
    assert jax_text(written(expected, jax_stablehlo.get_current_version())) == expected
    assert read(written(expected, stablehlo.get_current_version())) == parsed(expected)


@pytest.mark.parametrize("path", sorted((ROOT / "test/ttmlir/Dialect/Vhlo/Inputs").glob("*.b64")), ids=lambda p: p.name)
def test_stored_artifact(path: Path) -> None:
    """Among them collectives on two devices, with Shardy's ops between casts."""
    artifact = base64.b64decode(path.read_bytes())
    expected = jax_text(artifact)
    assert read(artifact) == parsed(expected)
    if "sdy.manual_computation" not in expected:  # which jaxlib itself writes with options only
        assert jax_text(written(expected, "1.15.0")) == expected
    assert read(written(expected, "1.15.0")) == parsed(expected)


@pytest.mark.parametrize(
    "element",
    [
        "!quant.uniform<i8:f32, 5.000000e-01:3>",
        "!quant.uniform<u8<1:254>:f32, 2.500000e-01:128>",
        "!quant.uniform<i8:f32:1, {5.000000e-01:3,2.500000e-01,2.000000e+00:-1}>",
    ],
)
def test_quantized_type(element: str) -> None:
    kind = f"tensor<4x3x{element}>"
    text = f"module {{ func.func @f(%a: {kind}) -> {kind} {{ return %a : {kind} }} }}"
    with jax_context() as context:
        module = jax_stablehlo.deserialize_portable_artifact(context, written(text, "1.0.0"))
        assert element in str(module)
        artifact = jax_stablehlo.serialize_portable_artifact(module, "1.0.0")
    assert read(artifact) == parsed(text)


SMALL_FLOATS = "f4E2M1FN f6E2M3FN f6E3M2FN f8E5M2 f8E4M3 f8E4M3FN f8E5M2FNUZ f8E4M3FNUZ f8E4M3B11FNUZ f8E3M4 f8E8M0FNU"


@pytest.mark.parametrize("element", SMALL_FLOATS.split())
def test_small_floats_outside_vhlo(element: str) -> None:
    """Ops of Shardy keep types of the builtin dialect, which later versions of MLIR write by a code."""
    of = f"tensor<16x{element}>"
    text = f"""sdy.mesh @mesh = <["i"=4]>
      func.func @main(%x: {of}) -> {of} {{
        %0 = sdy.manual_computation(%x) in_shardings=[<@mesh, [{{"i"}}]>] out_shardings=[<@mesh, [{{"i"}}]>]
            manual_axes={{"i"}} (%y: tensor<4x{element}>) {{
          %1 = stablehlo.reverse %y, dims = [0] : tensor<4x{element}>
          sdy.return %1 : tensor<4x{element}>
        }} : ({of}) -> {of}
        return %0 : {of}
      }}"""
    with jax_mlir.make_ir_context():
        artifact = jax_stablehlo.serialize_portable_artifact(jax_ir.Module.parse(text), VERSIONS[-1], True)
    with Context() as context:
        read = str(stablehlo.deserialize_portable_artifact(context, artifact))
    assert f"stablehlo.reverse %arg1, dims = [0] : tensor<4x{element}>" in read


@pytest.mark.sampled(4)
@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", OLD)
def test_version(name: str, version: str) -> None:
    with jax_context() as context:
        module = jax_stablehlo.deserialize_portable_artifact(context, exported(name))
        text = generic(module)
        try:
            artifact = jax_stablehlo.serialize_portable_artifact(module, version)
        except Exception:
            with pytest.raises(MLIRError, match=re.escape(version)):
                written(text, version)
            return
    expected = jax_text(artifact)
    assert read(artifact) == parsed(expected)
    assert jax_text(written(expected, version)) == expected
    assert f"StableHLO_v{version}".encode() in written(expected, version)


def test_every_minor_version() -> None:
    text = jax_text(exported("scatter"))
    minor = [f"0.{n}.0" for n in range(9, 21)] + [f"1.{n}.0" for n in range(21)]
    for version in minor:
        assert read(written(text, version)) == parsed(text), version


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in NOT_NATIVE])
def test_native_bytecode(name: str) -> None:
    """Bytecode of the dialect itself, which promises nothing between versions."""
    expected = jax_text(exported(name))
    with jax_context():
        stream = io.BytesIO()
        jax_ir.Module.parse(expected).operation.write_bytecode(stream)
    ours = io.BytesIO()
    with Context():
        module = Module.parse(stream.getvalue())
        assert generic(module) == parsed(expected)
        module.operation.write_bytecode(ours)
    with jax_context():
        assert generic(jax_ir.Module.parse(ours.getvalue())) == expected


def test_native_bytecode_of_partial_values() -> None:
    """Writes shardings with unreduced axes of several values, which have a code of their own."""
    text = """module {
      sdy.mesh @m = <["x"=2, "y"=2]>
      func.func @f(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}], unreduced={"y"}>}) -> tensor<4xf32> {
        %0 = stablehlo.negate %a
          {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}], unreduced={"y"}>]>} : tensor<4xf32>
        %1 = stablehlo.negate %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{"x"}]>]>} : tensor<4xf32>
        return %1 : tensor<4xf32>
      }
    }"""
    with jax_context():
        stream = io.BytesIO()
        module = jax_ir.Module.parse(text)
        expected = generic(module)
        module.operation.write_bytecode(stream)
    ours, newer = io.BytesIO(), io.BytesIO()
    with Context():
        read = Module.parse(stream.getvalue())
        assert generic(read) == parsed(expected)
        read.operation.write_bytecode(ours)
        # Another reduction than a sum, which jaxlib does not know yet.
        largest = Module.parse(text.replace("unreduced=", "unreduced=max"))
        largest.operation.write_bytecode(newer)
        assert b"unreduced" not in newer.getvalue()  # a code, and no text
        assert generic(Module.parse(newer.getvalue())) == generic(largest)
    with jax_context():
        assert generic(jax_ir.Module.parse(ours.getvalue())) == expected


def test_constants_without_elements() -> None:
    """Without a value, and with one for all, which StableHLO drops where it is a boolean."""
    values = {"4xf32": "1.0", "i1": "", "3xi8": "-1", "bf16": "2.0", "2xcomplex<f32>": "(1.0, 2.0)", "i4": "3"}
    for all_of in [False, True]:
        body = "".join(
            f"%{n} = stablehlo.constant dense<{value if all_of else ''}> : tensor<0x{kind}> "
            for n, (kind, value) in enumerate(values.items())
        )
        text = f"module {{ func.func @f() {{ {body} return }} }}"
        with jax_context():
            module = jax_ir.Module.parse(text)
            expected = generic(module)
            artifact = jax_stablehlo.serialize_portable_artifact(module, "1.0.0")
        assert jax_text(artifact) == expected
        assert read(artifact) == parsed(expected)
        assert jax_text(written(text, "1.0.0")) == expected


def test_versions() -> None:
    assert stablehlo.get_minimum_version() == jax_stablehlo.get_minimum_version()
    with Context():
        module = Module.parse("module {}")
        for version in ["", "1", "1.0", "0.8.0", "1.21.0", "9.0.0", "a.b.c", "1.0.-1"]:
            with pytest.raises(MLIRError, match="the target version is"):
                stablehlo.serialize_portable_artifact(module, version)


def test_is_portable_artifact() -> None:
    artifact = exported("mlp")
    assert stablehlo.is_portable_artifact(artifact)
    for other in [b"", b"ML", artifact[:10], b"module {}", artifact.replace(b"StableHLO_v", b"MLIR_______")]:
        assert not stablehlo.is_portable_artifact(other)
        with Context() as context, pytest.raises(MLIRError, match="is no portable artifact"):
            stablehlo.deserialize_portable_artifact(context, other)


def test_every_prefix_is_refused() -> None:
    artifact = base64.b64decode((ROOT / "test/ttmlir/Dialect/Vhlo/Inputs/scatter.1.0.0.b64").read_bytes())
    read(artifact)
    with Context() as context:
        for size in range(len(artifact)):
            with pytest.raises(MLIRError):
                stablehlo.deserialize_portable_artifact(context, artifact[:size])


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of bytecode, and where it ends."""
    size = 9 if data[at] == 0 else (data[at] & -data[at]).bit_length()
    digits = data[at + 1 : at + 9] if data[at] == 0 else data[at : at + size]
    return int.from_bytes(digits, "little") >> (0 if data[at] == 0 else size), at + size


def data_section(artifact: bytes) -> range:
    """Where attributes and types are."""
    _, at = varint(artifact, 4)
    at = artifact.index(0, at) + 1
    while True:
        section = artifact[at]
        length, at = varint(artifact, at + 1)
        if section & 0x80:
            alignment, at = varint(artifact, at)
            at += -at % alignment
        if section & 0x7F == 2:
            return range(at, at + length)
        at += length


def test_changed_data() -> None:
    """Codes, values of enums, numbers, indices and blobs of every value are read or refused."""
    artifact = base64.b64decode((ROOT / "test/ttmlir/Dialect/Vhlo/Inputs/bools.0.9.0.b64").read_bytes())
    generator = random.Random(0)
    refused = 0
    with Context() as context:
        for at in data_section(artifact):
            changed = bytearray(artifact)
            # Small odd numbers are codes and indices of one byte; an index of itself makes MLIR's reader wait forever.
            changed[at] = generator.choice([0xFF, 0xFB, 0x7F])
            try:
                stablehlo.deserialize_portable_artifact(context, bytes(changed))
            except MLIRError:
                refused += 1
    assert refused > 50


def test_every_op_has_a_test() -> None:
    """Dialect/Vhlo/ops.mlir takes every op of the table that the dialect has through VHLO."""
    rows = re.findall(
        r'VHLO_OP\("\w+", "[\d.]+", "[\d.]*", "([\w.-]+)"', (ROOT / "lib/Dialect/Vhlo/IR/Ops.def").read_text()
    )
    text = (ROOT / "test/ttmlir/Dialect/Vhlo/ops.mlir").read_text()
    assert len(rows) == 119
    missing = {row for row in rows if not re.search(rf"(?<![\w-]){re.escape(row)}(?![\w-])", text)}
    assert missing == {"func.call"}
    assert " call @" in text


def test_builder_reads_artifact() -> None:
    artifact = exported("mlp")
    module, _ = load_mlir_file(artifact, target="stablehlo")
    assert "stablehlo.dot_general" in str(module)
    with pytest.raises(TTBuilderCompileException, match="the portable artifact is damaged"):
        load_mlir_file(artifact[:500], target="stablehlo")
