# SPDX-License-Identifier: Apache-2.0
"""Ops of StableHLO and CHLO that others express, on the chip, compared with PyTorch and plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable

import _ttmlir_runtime as rt
import numpy as np
import pytest
import torch
from builder.base.builder_apis import load_mlir_file
from golden.tensor import GoldenMapTensor
from op_cases import execute, lowered
from ttmlir.passes import ttnn_to_flatbuffer_bin

NAMES = {torch.float32: "f32", torch.bfloat16: "bf16", torch.float16: "f16", torch.bool: "i1", torch.int8: "i8",
         torch.int32: "i32", torch.int64: "i64", torch.uint8: "ui8", torch.uint16: "ui16",
         torch.uint32: "ui32", torch.complex64: "complex<f32>"}  # fmt: skip


def type_of(x: torch.Tensor) -> str:
    return "tensor<" + "".join(f"{size}x" for size in x.shape) + f"{NAMES[x.dtype]}>"


def run(body: str, inputs: dict[str, torch.Tensor], results: list[str]) -> list[torch.Tensor]:
    """Runs a function of the inputs, whose body ends in ops %r0, %r1, ... of these types."""
    arguments = ", ".join(f"%{name}: {type_of(x)}" for name, x in inputs.items())
    returned = ", ".join(f"%r{i}" for i in range(len(results)))
    text = f"""func.func @main({arguments}) -> ({", ".join(results)}) {{
      {body}
      return {returned} : {", ".join(results)}
    }}"""
    module, _ = load_mlir_file(text, target="stablehlo")
    binary = rt.binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(module, (1, 1))))
    # Complex numbers are pairs in the signature of a program.
    given = [GoldenMapTensor({0: torch.view_as_real(x) if x.is_complex() else x}) for x in inputs.values()]
    found = [s[0] for s in execute(binary, 0, given, (1, 1))]
    return [torch.view_as_complex(x) if "complex" in of else x for x, of in zip(found, results, strict=True)]


def region(*ops: str, scalar: str = "f32", gives: str = "%c", result: str | None = None) -> str:
    return f"""({{
      ^bb0(%a: tensor<{scalar}>, %b: tensor<{scalar}>):
        {"; ".join(ops)}
        stablehlo.return {gives} : tensor<{result or scalar}>
      }})""".replace("; ", "\n        ")


# Bits

INTEGERS = [0, 1, 2, 3, 7, 8, 255, 256, 65535, 2**31 - 1, -1, -2, -(2**31), 0x5A5A5A5A, 123456789, -123456789]


COUNTS: dict[str, Callable[[int, int], int]] = {
    "popcnt": lambda bits, width: bits.bit_count(),
    "count_leading_zeros": lambda bits, width: width - bits.bit_length(),
}


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int8, torch.uint8])
def test_counts_of_bits(name: str, dtype: torch.dtype) -> None:
    width = torch.iinfo(dtype).bits
    x = torch.tensor([n for n in INTEGERS if torch.iinfo(dtype).min <= n <= torch.iinfo(dtype).max], dtype=dtype)
    (found,) = run(f"%r0 = stablehlo.{name} %x : {type_of(x)}", {"x": x}, [type_of(x)])
    assert found.tolist() == [COUNTS[name](n % 2**width, width) for n in x.tolist()]


def test_logical_shifts_of_64_bits() -> None:
    """The upper half of a number that 32 bits hold are copies of its sign, into which zeros come."""
    x = torch.tensor([n for n in INTEGERS if -(2**31) <= n < 2**31], dtype=torch.int64)
    for distance in (0, 1, 5, 31, 32, 33, 40, 63, 64, 100, -1):
        known, given = run(f"""%d = stablehlo.constant dense<{distance}> : {type_of(x)}
          %k = stablehlo.shift_right_logical %x, %d : {type_of(x)}
          %r0 = stablehlo.convert %k : ({type_of(x)}) -> tensor<{len(x)}xui32>
          %r1 = stablehlo.shift_right_logical %x, %y : {type_of(x)}""",
            {"x": x, "y": torch.full_like(x, distance)}, [f"tensor<{len(x)}xui32>", type_of(x)])  # fmt: skip
        exact = [n % 2**64 >> distance if 0 <= distance < 64 else 0 for n in x.tolist()]
        for found in (known, given):
            assert [n % 2**32 for n in found.to(torch.int64).tolist()] == [n % 2**32 for n in exact]


def reduced(value: float, exponent: int, mantissa: int) -> float:
    """A float in a format of so many bits, by exact arithmetic."""
    if math.isnan(value) or math.isinf(value) or value == 0:
        return value
    bias = 2 ** (exponent - 1) - 1
    scaled, power = math.frexp(abs(value))  # scaled in [0.5, 1)
    power -= 1
    rounded = round(scaled * 2 ** (mantissa + 1)) / 2**mantissa  # half to even; in [1, 2]
    if rounded >= 2:
        rounded, power = 1.0, power + 1
    if power > bias:
        return math.copysign(math.inf, value)
    if power < 1 - bias:
        return math.copysign(0.0, value)
    return math.copysign(rounded * 2.0**power, value)


@pytest.mark.parametrize(("exponent", "mantissa"), [(5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (3, 1)])
def test_reduce_precision(exponent: int, mantissa: int) -> None:
    values = [0.0, -0.0, 1.0, 1.0009765625, 1.00048828125, 65504.0, 65520.0, 1e-5, 6e-8, -1e-30, 3.3e38, math.pi,
              -math.e, 240.0, 248.0, 447.0, 1.125, 1.375, 0.1, -0.3, math.inf, -math.inf, math.nan]  # fmt: skip
    x = torch.tensor(values)
    (found,) = run(f"%r0 = stablehlo.reduce_precision %x, format = e{exponent}m{mantissa} : {type_of(x)}", {"x": x},
                   [type_of(x)])  # fmt: skip
    expected = torch.tensor([reduced(v, exponent, mantissa) for v in x.tolist()])
    torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_next_after(dtype: torch.dtype) -> None:
    most = torch.finfo(dtype).max
    x = torch.tensor([0.0, -0.0, 1.0, 1.0, -1.0, math.inf, most, math.nan, 1.0, 2.0, 5.0], dtype=dtype)
    y = torch.tensor([1.0, -1.0, 2.0, 0.0, 0.0, 0.0, math.inf, 1.0, math.nan, 2.0, -5.0], dtype=dtype)
    of = type_of(x)
    (found,) = run(f"%r0 = chlo.next_after %x, %y : {of}, {of} -> {of}", {"x": x, "y": y}, [of])
    # PyTorch has no such function of f16.
    expected = torch.from_numpy(np.nextafter(x.numpy(), y.numpy())) if dtype is torch.float16 else torch.nextafter(x, y)
    # The chip takes numbers below the smallest normal one for what they are; PyTorch's own are the reference.
    bits = torch.int32 if dtype is torch.float32 else torch.int16
    assert torch.equal(found.view(bits)[~expected.isnan()], expected.view(bits)[~expected.isnan()])
    assert torch.equal(found.isnan(), expected.isnan())


@pytest.mark.parametrize("dtype", [torch.int32, torch.int8])
def test_mulhi(dtype: torch.dtype) -> None:
    width = torch.iinfo(dtype).bits
    values = [n for n in INTEGERS if torch.iinfo(dtype).min <= n <= torch.iinfo(dtype).max]
    x = torch.tensor([a for a in values for _ in values], dtype=dtype)
    y = torch.tensor([b for _ in values for b in values], dtype=dtype)
    of = type_of(x)
    (found,) = run(f"%r0 = chlo.mulhi %x, %y : {of}, {of} -> {of}", {"x": x, "y": y}, [of])
    assert found.tolist() == [a * b >> width for a in values for b in values]


# Random bits


def words_of(*numbers: int) -> list[list[int]]:
    return [[n % 2**32, n >> 32] for n in numbers]


def philox_words(counter: int, key: tuple[int, int], count: int) -> list[int]:
    """counter: of 128 bits."""
    words: list[int] = []
    while len(words) < count:
        x = [counter >> shift & 0xFFFFFFFF for shift in (0, 32, 64, 96)]
        k0, k1 = key
        for _ in range(10):
            p, q = 0xD2511F53 * x[0], 0xCD9E8D57 * x[2]
            x = [(q >> 32) ^ x[1] ^ k0, q % 2**32, (p >> 32) ^ x[3] ^ k1, p % 2**32]
            k0, k1 = (k0 + 0x9E3779B9) % 2**32, (k1 + 0xBB67AE85) % 2**32
        words += x
        counter = (counter + 1) % 2**128
    return words[:count]


@pytest.mark.parametrize("shape", [(10,), (3, 5), (1,), ()])
@pytest.mark.parametrize("start", [0, 7, 2**32 - 1, 2**64 - 1])
def test_philox(shape: tuple[int, ...], start: int) -> None:
    """The bits of XLA, from a state that is made of words, as jax.random makes it."""
    count, key = math.prod(shape), 0x12345678DEADBEEF
    state = torch.tensor(words_of(key, start), dtype=torch.int64).to(torch.uint32)
    to = "tensor<" + "".join(f"{size}x" for size in shape) + "ui32>"
    after, bits = run(f"""%s = stablehlo.bitcast_convert %x : (tensor<2x2xui32>) -> tensor<2xui64>
      %n, %r1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, {to})
      %r0 = stablehlo.bitcast_convert %n : (tensor<2xui64>) -> tensor<2x2xui32>""",
        {"x": state}, ["tensor<2x2xui32>", to])  # fmt: skip
    words = philox_words(key << 64 | start, (0xDEADBEEF, 0x12345678), count)
    assert bits.to(torch.int64).reshape(-1).tolist() == words
    assert after.to(torch.int64).tolist() == words_of(key, (start + (count + 3) // 4) % 2**64)


# Of XLA's CPU (jaxlib 0.10.2): key, counter and its upper half, and five words.
PHILOX_OF_XLA = [
    ((7, 9, 7), (2624491802, 3865826212, 2369117307, 3756717838, 1745368373)),
    ((7, 9, 0), (2439837604, 62910777, 53943709, 3895118912, 3255304832)),
    ((7, 0, 9), (2462361331, 2336002820, 3292225718, 314718913, 3143212025)),
    ((7, 2**64 - 1, 7), (3825527345, 2929620239, 4033760259, 866587273, 2720144846)),
    ((7, 2**64 - 1, 2**64 - 1), (3062376279, 2540987067, 304614663, 2274073934, 4099963437)),
    ((2**33 + 7, 2**40 + 9, 2**50 + 3), (2519193354, 4256613185, 28352186, 3775192842, 1765109488)),
]


@pytest.mark.parametrize(("numbers", "expected"), PHILOX_OF_XLA)
def test_philox_of_three_numbers(numbers: tuple[int, int, int], expected: tuple[int, ...]) -> None:
    """A state of three numbers has the upper half of the counter, to which the lower one carries over."""
    state = torch.tensor(words_of(*numbers), dtype=torch.int64).to(torch.uint32)
    of = "(tensor<3xui64>) -> (tensor<3xui64>, tensor<5xui32>)"
    after, bits = run(f"""%s = stablehlo.bitcast_convert %x : (tensor<3x2xui32>) -> tensor<3xui64>
      %n, %r1 = stablehlo.rng_bit_generator %s, algorithm = PHILOX : {of}
      %r0 = stablehlo.bitcast_convert %n : (tensor<3xui64>) -> tensor<3x2xui32>""",
        {"x": state}, ["tensor<3x2xui32>", "tensor<5xui32>"])  # fmt: skip
    key, counter, upper = numbers
    assert bits.to(torch.int64).tolist() == list(expected)
    following = (upper << 64 | counter) + 2
    assert after.to(torch.int64).tolist() == words_of(key, following % 2**64, following >> 64 & 2**64 - 1)


def threefry_block(counter: int, key: tuple[int, int]) -> tuple[int, int]:
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    a, b = (counter % 2**32 + keys[0]) % 2**32, ((counter >> 32) + keys[1]) % 2**32
    for group in range(5):
        for turn in ([13, 15, 26, 6], [17, 29, 16, 24])[group % 2]:
            a = (a + b) % 2**32
            b = (b << turn | b >> (32 - turn)) % 2**32 ^ a
        a, b = (a + keys[(group + 1) % 3]) % 2**32, (b + keys[(group + 2) % 3] + group + 1) % 2**32
    return a, b


@pytest.mark.parametrize("shape", [(6,), (5,), (3, 4), (3, 5)])
def test_threefry(shape: tuple[int, ...]) -> None:
    state = torch.tensor([[17, 42], [5, 0]], dtype=torch.int64).to(torch.uint32)
    to = "tensor<" + "".join(f"{size}x" for size in shape) + "ui32>"
    (bits,) = run(f"""%s = stablehlo.bitcast_convert %x : (tensor<2x2xui32>) -> tensor<2xui64>
      %n, %r0 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, {to})""",
        {"x": state}, [to])  # fmt: skip
    split = next((d for d, size in enumerate(shape) if size % 2 == 0), shape.index(max(shape)))
    halved = [(size + 1) // 2 if d == split else size for d, size in enumerate(shape)]
    blocks = torch.arange(math.prod(halved)).reshape(halved)
    for place in torch.cartesian_prod(*[torch.arange(size) for size in shape]).reshape(-1, len(shape)).tolist():
        block = [p // 2 if d == split else p for d, p in enumerate(place)]
        pair = threefry_block(5 + int(blocks[tuple(block)]), (17, 42))
        assert int(bits[tuple(place)]) == pair[place[split] % 2]


# Goldens


def golden(body: str, inputs: dict[str, torch.Tensor], result: str) -> torch.Tensor:
    """Returns the goldens of `run`."""
    arguments = ", ".join(f"%{name}: {type_of(x)}" for name, x in inputs.items())
    _, builder = load_mlir_file(
        f"func.func @main({arguments}) -> {result} {{\n{body}\nreturn %r0 : {result} }}",
        target="stablehlo",
        golden_inputs={"main": list(inputs.values())},
    )
    return builder.golden_map[0][0].outputs[0].shard_at(0)


def test_golden_of_select_and_scatter() -> None:
    x, source = torch.randn(1, 7, 5), torch.randn(1, 4, 3)
    leaf = x.clone().requires_grad_()
    torch.nn.functional.max_pool2d(leaf, 3, 2, 1).backward(source)
    body = f"""%zero = stablehlo.constant dense<0.0> : tensor<f32>
      %r0 = "stablehlo.select_and_scatter"(%x, %s, %zero) <{{window_dimensions = array<i64: 1, 3, 3>,
        window_strides = array<i64: 1, 2, 2>, padding = dense<[[0, 0], [1, 1], [1, 1]]> : tensor<3x2xi64>}}> (
        {region("%c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>", result="i1")[1:-1]},
        {region("%c = stablehlo.add %a, %b : tensor<f32>")[1:-1]})
        : (tensor<1x7x5xf32>, tensor<1x4x3xf32>, tensor<f32>) -> tensor<1x7x5xf32>"""
    torch.testing.assert_close(golden(body, {"x": x, "s": source}, "tensor<1x7x5xf32>"), leaf.grad)


def test_goldens_of_computed_shapes() -> None:
    x = torch.arange(12.0).reshape(3, 4)
    numbers = "".join(
        f"%c{i}{j} = stablehlo.constant dense<[{i}, {j}]> : tensor<2xi32>\n" for i in range(4) for j in range(5)
    )
    two = "tensor<2xi32>, tensor<2xi32>, tensor<2xi32>"
    sliced = golden(
        f"{numbers} %r0 = stablehlo.real_dynamic_slice %x, %c01, %c34, %c22 "
        f": (tensor<3x4xf32>, {two}) -> tensor<2x2xf32>",
        {"x": x},
        "tensor<2x2xf32>",
    )
    assert torch.equal(sliced, x[0:3:2, 1:4:2])
    padded = golden(
        f"""{numbers} %v = stablehlo.constant dense<-1.0> : tensor<f32>
        %r0 = stablehlo.dynamic_pad %x, %v, %c01, %c10, %c01
          : (tensor<3x4xf32>, tensor<f32>, {two}) -> tensor<4x8xf32>""",
        {"x": x},
        "tensor<4x8xf32>",
    )
    expected = torch.full((4, 8), -1.0)
    expected[:3, 1::2] = x
    assert torch.equal(padded, expected)


@pytest.mark.parametrize(("low", "high", "interior"), [
    ([1, 0], [2, 1], [0, 0]), ([0, 0], [0, 0], [2, 1]), ([-1, 1], [1, -2], [0, 0]), ([-2, 2], [-1, 0], [1, 2]),
    ([-3, 0], [0, 0], [0, 1])])  # fmt: skip
@pytest.mark.parametrize("value", ["constant", "computed"])
def test_pad(low: list[int], high: list[int], interior: list[int], value: str) -> None:
    x = torch.arange(12.0).reshape(3, 4) + 1
    sizes = [a + n + (n - 1) * b + c for a, n, b, c in zip(low, x.shape, interior, high, strict=True)]
    expected = torch.full(sizes, 7.0)
    for i in range(3):
        for j in range(4):
            at = low[0] + i * (1 + interior[0]), low[1] + j * (1 + interior[1])
            if all(0 <= a < size for a, size in zip(at, sizes, strict=True)):
                expected[at] = x[i, j]
    seven = ("%v = stablehlo.constant dense<7.0> : tensor<f32>" if value == "constant"
             else "%v = stablehlo.add %y, %y : tensor<f32>")  # fmt: skip
    (found,) = run(
        f"""{seven}
      %r0 = stablehlo.pad %x, %v, low = {low}, high = {high}, interior = {interior}
        : ({type_of(x)}, tensor<f32>) -> {type_of(expected)}""",
        {"x": x, "y": torch.tensor(3.5)},
        [type_of(expected)],
    )
    assert torch.equal(found, expected)


def test_map() -> None:
    x, y = torch.randn(2, 3), torch.randn(2, 3)
    computation = region("%d = stablehlo.multiply %a, %b : tensor<f32>", "%c = stablehlo.subtract %d, %a : tensor<f32>")
    (found,) = run(f"""%r0 = "stablehlo.map"(%x, %y) <{{dimensions = array<i64: 0, 1>}}> {computation}
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>""", {"x": x, "y": y}, ["tensor<2x3xf32>"])  # fmt: skip
    torch.testing.assert_close(found, x * y - x)


# Products


@pytest.mark.parametrize(("config", "left", "right"), [
    ("ij,jk->ik", (2, 3), (3, 4)), ("bij,bkj->bik", (2, 3, 4), (2, 5, 4)), ("ij,kl->lj", (2, 3), (4, 5)),
    ("i,j->ji", (2,), (3,)), ("ij,ij->", (2, 3), (2, 3)), ("abc,cb->ba", (2, 3, 4), (4, 3))])  # fmt: skip
def test_einsum(config: str, left: tuple[int, ...], right: tuple[int, ...]) -> None:
    x, y = torch.randn(left), torch.randn(right)
    expected = torch.einsum(config, x.double(), y.double())
    to = "tensor<" + "".join(f"{size}x" for size in expected.shape) + "f32>"
    (found,) = run(f'%r0 = stablehlo.einsum %x, %y, config = "{config}" : ({type_of(x)}, {type_of(y)}) -> {to}',
                   {"x": x, "y": y}, [to])  # fmt: skip
    torch.testing.assert_close(found.double(), expected, rtol=1e-4, atol=1e-4)


def test_unary_einsum() -> None:
    x = torch.randn(2, 3, 4)
    (found,) = run(f'%r0 = stablehlo.unary_einsum %x, config = "abc->ca" : ({type_of(x)}) -> tensor<4x2xf32>', {"x": x},
                   ["tensor<4x2xf32>"])  # fmt: skip
    torch.testing.assert_close(found, torch.einsum("abc->ca", x), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("shape", "index", "dim", "batch"), [
    ((5, 3), (4,), 0, 0), ((2, 5, 3), (2, 4), 1, 1), ((2, 5), (2, 2), 1, 0)])  # fmt: skip
def test_torch_index_select(shape: tuple[int, ...], index: tuple[int, ...], dim: int, batch: int) -> None:
    x = torch.randn(shape)
    i = torch.randint(0, shape[dim], index, dtype=torch.int32)
    if batch:
        expected = torch.stack([x[k].index_select(dim - 1, i[k].long()) for k in range(shape[0])])
    else:
        expected = x.index_select(dim, i.reshape(-1).long()).reshape(*shape[:dim], *index, *shape[dim + 1 :])
    (found,) = run(f"""%r0 = "stablehlo.torch_index_select"(%x, %i) <{{dim = {dim} : i64, batch_dims = {batch} : i64}}>
      : ({type_of(x)}, {type_of(i)}) -> {type_of(expected)}""", {"x": x, "i": i}, [type_of(expected)])  # fmt: skip
    assert torch.equal(found, expected)


# Special functions

POSITIVE = torch.linspace(0.05, 30, 97)
WHOLE_LINE = torch.cat([torch.linspace(-9.7, 12, 83), torch.tensor([1.0, 2.0, 0.5, 100.0, 1e-3, -0.5])])
SPECIAL: dict[str, tuple[Callable[[torch.Tensor], torch.Tensor], torch.Tensor]] = {
    "lgamma": (torch.lgamma, torch.cat([WHOLE_LINE, torch.tensor([0.0, -1.0, -2.0, math.inf, math.nan])])),
    "digamma": (torch.digamma, torch.cat([WHOLE_LINE, torch.tensor([math.inf, math.nan])])),
    "bessel_i1e": (torch.special.i1e, torch.cat([WHOLE_LINE, torch.tensor([0.0, 8.0, 8.1, -40.0])])),
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_function(name: str) -> None:
    function, x = SPECIAL[name]
    of = type_of(x)
    (found,) = run(f"%r0 = chlo.{name} %x : {of} -> {of}", {"x": x}, [of])
    torch.testing.assert_close(found.double(), function(x.double()), rtol=3e-5, atol=3e-6, equal_nan=True)


def test_zeta_and_polygamma() -> None:
    x, q = torch.linspace(1.1, 20, 40), torch.linspace(0.2, 9, 40)
    of = type_of(x)
    (found,) = run(f"%r0 = chlo.zeta %x, %q : {of}, {of} -> {of}", {"x": x, "q": q}, [of])
    torch.testing.assert_close(found.double(), torch.special.zeta(x.double(), q.double()), rtol=3e-5, atol=1e-6)
    for n in (0, 1, 2, 3, 5):
        (found,) = run(f"%r0 = chlo.polygamma %n, %x : {of}, {of} -> {of}",
                       {"n": torch.full_like(x, n), "x": POSITIVE[:40]}, [of])  # fmt: skip
        torch.testing.assert_close(found.double(), torch.special.polygamma(n, POSITIVE[:40].double()), rtol=5e-5,
                                   atol=1e-5)  # fmt: skip


def test_total_order() -> None:
    values = torch.tensor([math.nan, math.inf, 3.0, 0.0, -0.0, -2.0, -math.inf, -math.nan])
    values[-1] = torch.tensor([0xFFC00000 - 2**32], dtype=torch.int32).view(torch.float32)[0]
    x, y = values.repeat_interleave(8), values.repeat(8)
    of = type_of(x)
    (found,) = run(f"%r0 = stablehlo.compare LT, %x, %y, TOTALORDER : ({of}, {of}) -> tensor<64xi1>", {"x": x, "y": y},
                   ["tensor<64xi1>"])  # fmt: skip
    assert found.bool().tolist() == [a > b for a in range(8) for b in range(8)]  # from the largest to the smallest


@pytest.mark.parametrize(
    ("of", "to"), [("4xf32", "4x2xui16"), ("4xi32", "4x4xi8"), ("4x2xui16", "4xf32"), ("3x4xi8", "3xi32")]
)
def test_bitcast_of_other_width(of: str, to: str) -> None:
    torch_types = {"f32": torch.float32, "i32": torch.int32, "ui16": torch.uint16, "i8": torch.int8}
    shape, _, name = of.rpartition("x")
    count = math.prod(map(int, shape.split("x"))) * torch_types[name].itemsize // 4
    bits = torch.tensor([0x3F800000, -0x3E0DFE01, 0x00FF8001, 0x7F7FFFFF][:count], dtype=torch.int32)
    x = bits.view(torch_types[name]).reshape([int(n) for n in shape.split("x")])
    (found,) = run(f"%r0 = stablehlo.bitcast_convert %x : (tensor<{of}>) -> tensor<{to}>", {"x": x}, [f"tensor<{to}>"])
    expected = bits.view(torch_types[to.rpartition("x")[2]])
    assert torch.equal(found.reshape(-1).to(expected.dtype), expected.reshape(-1))


# Convolutions


@pytest.mark.parametrize("case", ["batch groups", "reversed", "negative", "negative and dilated"])
def test_convolution(case: str) -> None:
    x = torch.randn(4, 2, 6, 6, generator=torch.Generator().manual_seed(10))
    w = torch.randn(6, 2, 3, 3, generator=torch.Generator().manual_seed(11))
    window, groups = "pad = [[1, 1], [1, 1]]", 1
    if case == "batch groups":  # each half of the batch has a half of the kernels
        groups = 2
        conv = torch.nn.functional.conv2d
        expected = torch.cat([conv(x[:2], w[:3], padding=1), conv(x[2:], w[3:], padding=1)], 1)
    elif case == "reversed":
        window += ", reverse = [true, false]"
        expected = torch.nn.functional.conv2d(x, w.flip(2), padding=1)
    else:
        dilated = x
        window = "pad = [[-1, 0], [1, -2]]"
        if case == "negative and dilated":
            window += ", lhs_dilate = [2, 1]"
            dilated = torch.zeros(4, 2, 11, 6)
            dilated[:, :, ::2] = x
        expected = torch.nn.functional.conv2d(torch.nn.functional.pad(dilated, (1, -2, -1, 0)), w)
    (found,) = run(f"""%r0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
      window = {{{window}}} {{batch_group_count = {groups} : i64, feature_group_count = 1 : i64}}
      : ({type_of(x)}, {type_of(w)}) -> {type_of(expected)}""", {"x": x, "w": w}, [type_of(expected)])  # fmt: skip
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


# Broadcasts, constants, calls


@pytest.mark.parametrize(
    ("left", "right", "dimensions"),
    [
        ((2, 3), (3,), ""),
        ((2, 3), (2,), "{broadcast_dimensions = array<i64: 0>}"),
        ((2, 1), (1, 3), ""),
        ((), (4,), ""),
    ],
)
def test_broadcasting(left: tuple[int, ...], right: tuple[int, ...], dimensions: str) -> None:
    x, y = torch.randn(left), torch.randn(right)
    expected = x - (y[:, None] if dimensions else y)
    (found,) = run(f"%r0 = chlo.broadcast_subtract %x, %y {dimensions} : ({type_of(x)}, {type_of(y)}) -> "
                   f"{type_of(expected)}", {"x": x, "y": y}, [type_of(expected)])  # fmt: skip
    torch.testing.assert_close(found, expected)


Binary = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
FLOATS_TOGETHER: dict[str, Binary] = {
    "add": torch.add, "atan2": torch.atan2, "divide": torch.div, "maximum": torch.maximum, "minimum": torch.minimum,
    "multiply": torch.mul, "next_after": torch.nextafter, "remainder": torch.fmod, "subtract": torch.sub,
    "power": lambda a, b: a.abs() ** b,
}  # fmt: skip
INTEGERS_TOGETHER: dict[str, Binary] = {
    "and": torch.bitwise_and, "or": torch.bitwise_or, "xor": torch.bitwise_xor, "shift_left": torch.bitwise_left_shift,
    "shift_right_arithmetic": torch.bitwise_right_shift,
    "shift_right_logical": lambda a, b: ((a.long() & 0xFFFFFFFF) >> b).int(),
}  # fmt: skip


@pytest.mark.parametrize("name", [*FLOATS_TOGETHER, *INTEGERS_TOGETHER])
def test_every_broadcast(name: str) -> None:
    """A row with a column."""
    generator = torch.Generator().manual_seed(0)
    if name in FLOATS_TOGETHER:
        function, x, y = (
            FLOATS_TOGETHER[name],
            torch.randn(3, generator=generator),
            torch.randn(2, 1, generator=generator),
        )
        x = x.abs() if name == "power" else x
    else:
        function = INTEGERS_TOGETHER[name]
        x = torch.tensor([-7, 12, 2**30 + 3], dtype=torch.int32)
        y = torch.tensor([[3], [1]], dtype=torch.int32)
    expected = function(x, y)
    (found,) = run(f"%r0 = chlo.broadcast_{name} %x, %y : ({type_of(x)}, {type_of(y)}) -> {type_of(expected)}",
                   {"x": x, "y": y}, [type_of(expected)])  # fmt: skip
    torch.testing.assert_close(found, expected)


def test_broadcasts_of_other_types() -> None:
    x, y, p = torch.tensor([0.5, 2.0, 3.0]), torch.tensor([[3.0], [2.0]]), torch.tensor([True, False, True])
    less, chosen, zeta, gamma = run(
        """%r0 = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>}
          : (tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xi1>
        %r1 = chlo.broadcast_select %p, %x, %y : (tensor<3xi1>, tensor<3xf32>, tensor<2x1xf32>) -> tensor<2x3xf32>
        %r2 = chlo.broadcast_zeta %y, %x : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>
        %r3 = chlo.broadcast_polygamma %y, %x : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x3xf32>""",
        {"x": x, "y": y, "p": p},
        ["tensor<2x3xi1>", *["tensor<2x3xf32>"] * 3],
    )
    assert torch.equal(less.bool(), x < y)
    assert torch.equal(chosen, torch.where(p, x, y))
    torch.testing.assert_close(zeta, torch.special.zeta(y, x), rtol=3e-5, atol=3e-6)
    expected = torch.stack([torch.polygamma(int(n), x) for n in y.flatten()])
    torch.testing.assert_close(gamma, expected, rtol=3e-5, atol=3e-6)


def test_constants_and_barrier() -> None:
    x = torch.randn(2, 2)
    found = run("""%k = "chlo.constant_like"(%x) <{value = 3.0 : f32}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %c = chlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %b, %d = stablehlo.optimization_barrier %k, %c : tensor<2x2xf32>, tensor<2xf32>
      %r0 = chlo.broadcast_add %b, %d : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
      %t = stablehlo.tuple %x, %r0 : tuple<tensor<2x2xf32>, tensor<2x2xf32>>
      %r1 = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2x2xf32>, tensor<2x2xf32>>) -> tensor<2x2xf32>
      """, {"x": x}, ["tensor<2x2xf32>", "tensor<2x2xf32>"])  # fmt: skip
    assert torch.equal(found[0], torch.tensor([[4.0, 5.0], [4.0, 5.0]]))
    assert torch.equal(found[1], x)


def test_calls_known_by_name() -> None:
    x = torch.tensor([[0.5, -1.0, 2.0]])
    values, indices, error = run("""%r0, %r1 = stablehlo.custom_call @mhlo.topk(%x)
        {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<1x3xf32>) -> (tensor<1x2xf32>, tensor<1x2xi32>)
      %s = stablehlo.custom_call @Sharding(%x) {mhlo.sharding = "{replicated}"} : (tensor<1x3xf32>) -> tensor<1x3xf32>
      %r2 = stablehlo.custom_call @mhlo.erf(%s) {mhlo.version = 1 : i64} : (tensor<1x3xf32>) -> tensor<1x3xf32>""",
        {"x": x}, ["tensor<1x2xf32>", "tensor<1x2xi32>", "tensor<1x3xf32>"])  # fmt: skip
    assert values.tolist() == [[2.0, 0.5]]
    assert indices.tolist() == [[2, 0]]
    torch.testing.assert_close(error, torch.erf(x), rtol=1e-5, atol=1e-6)


WIDE = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: (abs(a) // abs(b)) * (1 if (a < 0) == (b < 0) else -1) if b else -1,
    "remainder": lambda a, b: (abs(a) % abs(b)) * (-1 if a < 0 else 1) if b else a,
    "and": lambda a, b: a & b,
    "xor": lambda a, b: a ^ b,
    "maximum": max,
    "minimum": min,
    "shift_left": lambda a, b: a << (b & 63),
    "shift_right_logical": lambda a, b: (a % 2**64) >> (b & 63),
    "shift_right_arithmetic": lambda a, b: a >> (b & 63),
}


@pytest.mark.parametrize("is_signed", [True, False])
@pytest.mark.parametrize("name", WIDE)
def test_integers_of_64_bits(name: str, *, is_signed: bool) -> None:
    """Arithmetic on numbers that 32 bits do not hold, read as two words."""
    factor, offset = 0x123456789ABCDEF1, 0xFEDCBA9876
    first, second = [3, -7, 0, 2**31 - 1, -(2**31), 5], [5, 11, -9, 0, 77, 2**31 - 2]
    if not is_signed:
        first, second = [abs(x) for x in first], [abs(x) for x in second]
    dtype, given, element = (torch.int32, "i32", "i64") if is_signed else (torch.uint32, "ui32", "ui64")
    wide, narrow, words = f"tensor<6x{element}>", f"tensor<6x{given}>", "tensor<6xui32>"
    amount = f"%c = stablehlo.constant dense<63> : {wide}\n%v = stablehlo.and %q, %c : {wide}"
    body = f"""%f = stablehlo.constant dense<{factor}> : {wide}
      %o = stablehlo.constant dense<{offset}> : {wide}
      %h = stablehlo.constant dense<32> : {wide}
      %p = stablehlo.convert %a : ({narrow}) -> {wide}
      %q = stablehlo.convert %b : ({narrow}) -> {wide}
      %s = stablehlo.multiply %p, %f : {wide}
      %u = stablehlo.add %s, %o : {wide}
      {amount if "shift" in name else f"%v = stablehlo.multiply %q, %o : {wide}"}
      %w = stablehlo.{name} %u, %v : {wide}
      %g = stablehlo.shift_right_logical %w, %h : {wide}
      %r0 = stablehlo.convert %w : ({wide}) -> {words}
      %r1 = stablehlo.convert %g : ({wide}) -> {words}
      %r2 = stablehlo.compare LT, %u, %v : ({wide}, {wide}) -> tensor<6xi1>
      %r3 = stablehlo.convert %w : ({wide}) -> tensor<6xf32>"""
    inputs = {"a": torch.tensor(first).to(dtype), "b": torch.tensor(second).to(dtype)}
    low, high, is_less, floats = run(body, inputs, [words, words, "tensor<6xi1>", "tensor<6xf32>"])

    def wrapped(x: int) -> int:
        return (x + 2**63) % 2**64 - 2**63 if is_signed else x % 2**64

    left = [wrapped(x * factor + offset) for x in first]
    right = [x % 64 if "shift" in name else wrapped(x * offset) for x in second]
    expected = [wrapped(WIDE[name](a, b)) for a, b in zip(left, right, strict=True)]
    assert low.to(torch.int64).tolist() == [x % 2**32 for x in expected]
    assert high.to(torch.int64).tolist() == [(x >> 32) % 2**32 for x in expected]
    assert is_less.bool().tolist() == [a < b for a, b in zip(left, right, strict=True)]
    torch.testing.assert_close(floats, torch.tensor([float(x) for x in expected]), rtol=3e-7, atol=0)


def test_bits_of_f64() -> None:
    """The bits that an f64 has on the chip, and the nearest f32 of bits."""
    x = torch.tensor([0.0, -0.0, 1.5, -2.25, 1e-3, 3e30, math.inf, -math.inf, 0.1])
    of = "tensor<9xf64>"
    body = f"""%d = stablehlo.convert %x : (tensor<9xf32>) -> {of}
      %b = stablehlo.bitcast_convert %d : ({of}) -> tensor<9xui64>
      %h = stablehlo.constant dense<32> : tensor<9xui64>
      %g = stablehlo.shift_right_logical %b, %h : tensor<9xui64>
      %r0 = stablehlo.convert %b : (tensor<9xui64>) -> tensor<9xui32>
      %r1 = stablehlo.convert %g : (tensor<9xui64>) -> tensor<9xui32>
      %s = stablehlo.constant dense<{2**63}> : tensor<9xui64>
      %n = stablehlo.xor %b, %s : tensor<9xui64>
      %e = stablehlo.bitcast_convert %n : (tensor<9xui64>) -> {of}
      %r2 = stablehlo.convert %e : ({of}) -> tensor<9xf32>"""
    low, high, negated = run(body, {"x": x}, ["tensor<9xui32>", "tensor<9xui32>", "tensor<9xf32>"])
    bits = [b % 2**64 for b in x.double().view(torch.int64).tolist()]
    assert low.to(torch.int64).tolist() == [b % 2**32 for b in bits]
    assert high.to(torch.int64).tolist() == [b >> 32 for b in bits]
    assert negated.view(torch.int32).tolist() == (-x).view(torch.int32).tolist()
