# SPDX-License-Identifier: Apache-2.0
"""Complex numbers of StableHLO on the chip, as pairs of real ones, compared with PyTorch in complex128."""

from __future__ import annotations

from collections.abc import Callable

import _ttmlir_runtime as rt
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir.ir import MLIRError
from ttmlir.passes import ttnn_to_flatbuffer_bin


def run(text: str, *inputs: torch.Tensor) -> list[torch.Tensor]:
    """Complex inputs and results have a last dimension of 2."""
    module, _ = load_mlir_file(text, target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    given = [torch.view_as_real(x) if x.is_complex() else x for x in inputs]
    return [s[0] for s in execute(binary, 0, [GoldenMapTensor({0: x.contiguous()}) for x in given], (1, 1))]


def numbers(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=torch.complex64, generator=torch.Generator().manual_seed(seed))


UNARY: dict[str, tuple[str, Callable[[torch.Tensor], torch.Tensor]]] = {
    "negate": ("stablehlo.negate %x : T", torch.neg),
    "exponential": ("stablehlo.exponential %x : T", torch.exp),
    "exponential_minus_one": ("stablehlo.exponential_minus_one %x : T", lambda z: torch.exp(z) - 1),
    "log": ("stablehlo.log %x : T", torch.log),
    "log_plus_one": ("stablehlo.log_plus_one %x : T", lambda z: torch.log(1 + z)),
    "sqrt": ("stablehlo.sqrt %x : T", torch.sqrt),
    "rsqrt": ("stablehlo.rsqrt %x : T", lambda z: 1 / torch.sqrt(z)),
    "sine": ("stablehlo.sine %x : T", torch.sin),
    "cosine": ("stablehlo.cosine %x : T", torch.cos),
    "tan": ("stablehlo.tan %x : T", torch.tan),
    "tanh": ("stablehlo.tanh %x : T", torch.tanh),
    "logistic": ("stablehlo.logistic %x : T", lambda z: 1 / (1 + torch.exp(-z))),
    "sign": ("stablehlo.sign %x : T", torch.sgn),
    "conj": ("chlo.conj %x : T -> T", torch.conj),
    "square": ("chlo.square %x : T -> T", torch.square),
    "sinh": ("chlo.sinh %x : T -> T", torch.sinh),
    "cosh": ("chlo.cosh %x : T -> T", torch.cosh),
    "asin": ("chlo.asin %x : T -> T", torch.asin),
    "acos": ("chlo.acos %x : T -> T", torch.acos),
    "atan": ("chlo.atan %x : T -> T", torch.atan),
    "asinh": ("chlo.asinh %x : T -> T", torch.asinh),
    "acosh": ("chlo.acosh %x : T -> T", torch.acosh),
    "atanh": ("chlo.atanh %x : T -> T", torch.atanh),
}


# Infinite at 1, -1, i and -i, some of them.
POLES = {"atan", "atanh"}


@pytest.mark.parametrize("name", UNARY)
def test_unary(name: str) -> None:
    op, function = UNARY[name]
    ends = torch.tensor([0.5 + 0j, 0.25j, -2 - 0.5j] if name in POLES else [1 + 0j, -1 + 0j, 1j, -1j, -2 - 0.5j])
    x = torch.cat([numbers(20), ends])
    of = f"tensor<{len(x)}xcomplex<f32>>"
    text = f"""func.func @main(%x: {of}) -> {of} {{
      %0 = {op.replace("T", of)}
      return %0 : {of}
    }}"""
    (found,) = run(text, x)
    expected = torch.view_as_real(function(x.to(torch.complex128)).resolve_conj())
    torch.testing.assert_close(found.double(), expected, rtol=2e-5, atol=2e-6)


@pytest.mark.parametrize(("name", "function"), [("add", torch.add), ("subtract", torch.sub), ("multiply", torch.mul),
                                                ("divide", torch.div), ("power", torch.pow)])  # fmt: skip
def test_binary(name: str, function: Callable[[torch.Tensor, torch.Tensor], torch.Tensor]) -> None:
    x, y = numbers(3, 5), numbers(3, 5, seed=1)
    if name == "divide":  # the squares of these overflow
        x, y = torch.cat([x, x * 1e30]), torch.cat([y, y * 1e30])
    of = f"tensor<{len(x)}x5xcomplex<f32>>"
    (found,) = run(f"""func.func @main(%x: {of}, %y: {of}) -> {of} {{
      %0 = stablehlo.{name} %x, %y : {of}
      return %0 : {of}
    }}""", x, y)  # fmt: skip
    expected = torch.view_as_real(function(x.to(torch.complex128), y.to(torch.complex128)))
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5)


def test_parts_and_comparisons() -> None:
    x = numbers(2, 3)
    found = run("""func.func @main(%x: tensor<2x3xcomplex<f32>>)
        -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>, tensor<2x3xcomplex<f32>>) {
      %re = stablehlo.real %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
      %im = stablehlo.imag %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
      %abs = stablehlo.abs %x : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
      %swapped = stablehlo.complex %im, %re : tensor<2x3xcomplex<f32>>
      %same = stablehlo.compare EQ, %x, %x : (tensor<2x3xcomplex<f32>>, tensor<2x3xcomplex<f32>>) -> tensor<2x3xi1>
      return %re, %im, %abs, %same, %swapped
        : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xi1>, tensor<2x3xcomplex<f32>>
    }""", x)  # fmt: skip
    assert torch.equal(found[0], x.real)
    assert torch.equal(found[1], x.imag)
    torch.testing.assert_close(found[2], x.abs())
    assert found[3].bool().all()
    assert torch.equal(found[4], torch.view_as_real(torch.complex(x.imag, x.real)))


def test_data_movement_products_and_sums() -> None:
    x, w = numbers(3, 4), numbers(4, 2, seed=1)
    product, total, moved = run("""func.func @main(%x: tensor<3x4xcomplex<f32>>, %w: tensor<4x2xcomplex<f32>>)
        -> (tensor<3x2xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<4x4xcomplex<f32>>) {
      %zero = stablehlo.constant dense<(0.0, 0.0)> : tensor<complex<f32>>
      %one = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
      %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<3x4xcomplex<f32>>, tensor<4x2xcomplex<f32>>) -> tensor<3x2xcomplex<f32>>
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [1]
        : (tensor<3x4xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
      %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4xcomplex<f32>>) -> tensor<4x3xcomplex<f32>>
      %b = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<complex<f32>>) -> tensor<4x1xcomplex<f32>>
      %c = stablehlo.concatenate %t, %b, dim = 1
        : (tensor<4x3xcomplex<f32>>, tensor<4x1xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
      return %p, %s, %c : tensor<3x2xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<4x4xcomplex<f32>>
    }""", x, w)  # fmt: skip
    torch.testing.assert_close(product, torch.view_as_real(x @ w), rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(total, torch.view_as_real(x.sum(1)), rtol=1e-5, atol=1e-5)
    assert torch.equal(moved, torch.view_as_real(torch.cat([x.T, torch.full((4, 1), 1 + 2j)], 1)))


def region(op: str) -> str:
    of = "tensor<complex<f32>>"
    return f"""({{
      ^bb0(%a: {of}, %b: {of}):
        {op}
        stablehlo.return %c : {of}
      }})"""


MULTIPLY = "%c = stablehlo.multiply %a, %b : tensor<complex<f32>>"
# Of JAX: real parts decide, and imaginary ones where they are equal.
GREATER = """%ar = stablehlo.real %a : (tensor<complex<f32>>) -> tensor<f32>
        %br = stablehlo.real %b : (tensor<complex<f32>>) -> tensor<f32>
        %ai = stablehlo.imag %a : (tensor<complex<f32>>) -> tensor<f32>
        %bi = stablehlo.imag %b : (tensor<complex<f32>>) -> tensor<f32>
        %same = stablehlo.compare EQ, %ar, %br : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %re = stablehlo.compare GT, %ar, %br : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %im = stablehlo.compare GT, %ai, %bi : (tensor<f32>, tensor<f32>) -> tensor<i1>
        %which = stablehlo.select %same, %im, %re : tensor<i1>, tensor<i1>
        %c = stablehlo.select %which, %a, %b : tensor<i1>, tensor<complex<f32>>"""


def test_regions_in_which_the_parts_meet() -> None:
    """Products and the greatest of rows, and products of windows."""
    x = numbers(3, 7)
    x[0, 2] = x[0].real.max() + 2j
    product, most, windows = run(f"""func.func @main(%x: tensor<3x7xcomplex<f32>>)
        -> (tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3x5xcomplex<f32>>) {{
      %one = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
      %least = stablehlo.constant dense<(0xFF800000, 0xFF800000)> : tensor<complex<f32>>
      %p = "stablehlo.reduce"(%x, %one) <{{dimensions = array<i64: 1>}}> {region(MULTIPLY)}
        : (tensor<3x7xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
      %m = "stablehlo.reduce"(%x, %least) <{{dimensions = array<i64: 1>}}> {region(GREATER)}
        : (tensor<3x7xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3xcomplex<f32>>
      %w = "stablehlo.reduce_window"(%x, %one) <{{window_dimensions = array<i64: 1, 3>}}> {region(MULTIPLY)}
        : (tensor<3x7xcomplex<f32>>, tensor<complex<f32>>) -> tensor<3x5xcomplex<f32>>
      return %p, %m, %w : tensor<3xcomplex<f32>>, tensor<3xcomplex<f32>>, tensor<3x5xcomplex<f32>>
    }}""", x)  # fmt: skip
    torch.testing.assert_close(product, torch.view_as_real(x.prod(1)), rtol=1e-5, atol=1e-5)
    greatest = [max(row.tolist(), key=lambda z: (z.real, z.imag)) for row in x]
    assert torch.equal(most, torch.view_as_real(torch.tensor(greatest, dtype=torch.complex64)))
    torch.testing.assert_close(windows, torch.view_as_real(x.unfold(1, 3, 1).prod(2)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("unique", [True, False])
def test_products_by_scatters(unique: bool) -> None:
    """Rows of two elements; without a promise one row is named three times, and one is not there."""
    x = numbers(5, 4)
    places = torch.tensor([[3, 1], [0, 2]] if unique else [[3, 1], [0, 2], [3, 1], [7, 0], [3, 0]], dtype=torch.int32)
    updates = numbers(len(places), 2, seed=1)
    (found,) = run(f"""func.func @main(%x: tensor<5x4xcomplex<f32>>, %i: tensor<{len(places)}x2xi32>,
        %u: tensor<{len(places)}x2xcomplex<f32>>) -> tensor<5x4xcomplex<f32>> {{
      %0 = "stablehlo.scatter"(%x, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1],
        inserted_window_dims = [0], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>,
        unique_indices = {str(unique).lower()}}}> {region(MULTIPLY)}
        : (tensor<5x4xcomplex<f32>>, tensor<{len(places)}x2xi32>, tensor<{len(places)}x2xcomplex<f32>>)
        -> tensor<5x4xcomplex<f32>>
      return %0 : tensor<5x4xcomplex<f32>>
    }}""", x, places, updates)  # fmt: skip
    expected = x.clone()
    for (row, column), update in zip(places.tolist(), updates, strict=True):
        if row < 5:
            expected[row, column : column + 2] *= update
    torch.testing.assert_close(found, torch.view_as_real(expected), rtol=1e-5, atol=1e-6)


def test_loop_and_call() -> None:
    x = numbers(4) / 2
    (found,) = run("""module {
      func.func private @step(%z: tensor<4xcomplex<f32>>, %c: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
        %0 = stablehlo.multiply %z, %z : tensor<4xcomplex<f32>>
        %1 = stablehlo.add %0, %c : tensor<4xcomplex<f32>>
        return %1 : tensor<4xcomplex<f32>>
      }
      func.func @main(%c: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
        %zero = stablehlo.constant dense<0> : tensor<i32>
        %one = stablehlo.constant dense<1> : tensor<i32>
        %three = stablehlo.constant dense<3> : tensor<i32>
        %r:2 = stablehlo.while(%i = %zero, %z = %c) : tensor<i32>, tensor<4xcomplex<f32>> cond {
          %p = stablehlo.compare LT, %i, %three : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %p : tensor<i1>
        } do {
          %j = stablehlo.add %i, %one : tensor<i32>
          %n = func.call @step(%z, %c) : (tensor<4xcomplex<f32>>, tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
          stablehlo.return %j, %n : tensor<i32>, tensor<4xcomplex<f32>>
        }
        return %r#1 : tensor<4xcomplex<f32>>
      }
    }""", x)  # fmt: skip
    z = x.to(torch.complex128)
    for _ in range(3):
        z = z * z + x
    torch.testing.assert_close(found.double(), torch.view_as_real(z), rtol=1e-5, atol=1e-5)


FOURIER = {
    "FFT": (torch.fft.fftn, True),
    "IFFT": (torch.fft.ifftn, True),
    "RFFT": (torch.fft.rfftn, False),
    "IRFFT": (torch.fft.irfftn, True),
}


@pytest.mark.parametrize("kind", FOURIER)
@pytest.mark.parametrize(("shape", "count"), [((1,), 1), ((8,), 1), ((7,), 1), ((3, 12), 1), ((2, 4, 6), 2),
                                              ((3, 5, 4), 3), ((100,), 1)])  # fmt: skip
def test_fourier(kind: str, shape: tuple[int, ...], count: int) -> None:
    function, is_complex = FOURIER[kind]
    lengths, given = list(shape[-count:]), list(shape)
    if kind == "IRFFT":
        given[-1] = shape[-1] // 2 + 1
    x = numbers(*given) if is_complex else torch.randn(given, generator=torch.Generator().manual_seed(0))
    dims = list(range(len(shape) - count, len(shape)))
    wide = x.to(torch.complex128 if is_complex else torch.float64)
    # What a Hermitian spectrum cannot have is not looked at, first and in the middle.
    expected = function(wide, s=lengths, dim=dims) if kind == "IRFFT" else function(wide, dim=dims)
    type_of = lambda t: ("tensor<" + "".join(f"{n}x" for n in t.shape)  # noqa: E731
                         + ("complex<f32>>" if t.is_complex() else "f32>"))  # fmt: skip
    (found,) = run(f"""func.func @main(%x: {type_of(x)}) -> {type_of(expected)} {{
      %0 = stablehlo.fft %x, type = {kind}, length = {lengths} : ({type_of(x)}) -> {type_of(expected)}
      return %0 : {type_of(expected)}
    }}""", x)  # fmt: skip
    expected = torch.view_as_real(expected) if expected.is_complex() else expected
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-5 * float(expected.abs().max() + 1))


def test_op_without_lowering_is_named() -> None:
    with pytest.raises(MLIRError, match=r"stablehlo\.cbrt: complex numbers are not lowered"):
        run("""func.func @main(%x: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
          %0 = stablehlo.cbrt %x : tensor<2xcomplex<f32>>
          return %0 : tensor<2xcomplex<f32>>
        }""", numbers(2))  # fmt: skip
    with pytest.raises(MLIRError, match="transforms 5000 elements; expected 1 to 4096"):
        run("""func.func @main(%x: tensor<5000xcomplex<f32>>) -> tensor<5000xcomplex<f32>> {
          %0 = stablehlo.fft %x, type = FFT, length = [5000] : (tensor<5000xcomplex<f32>>) -> tensor<5000xcomplex<f32>>
          return %0 : tensor<5000xcomplex<f32>>
        }""", numbers(5000))  # fmt: skip
