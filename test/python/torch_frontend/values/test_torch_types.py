# SPDX-License-Identifier: Apache-2.0
"""Types at the front end: 64-bit integers and floats, narrow integers that wrap around, autocast."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import pytest
import python_process
import torch
from compiled import assert_agree, check, on_chip
from torch import nn
from ttmlir.torch.report import record

NARROW = [torch.uint8, torch.int8, torch.int16, torch.int32]
LOW, HIGH = -(2**31), 2**31 - 1


@pytest.mark.parametrize("value", [LOW, LOW + 1, -1, 0, HIGH - 1, HIGH])
def test_64_bit_integers_that_fit_are_whole(value: int) -> None:
    x = torch.tensor([value, 0, value])
    result = check(lambda x: (x.clone(), x == value, x[0], torch.maximum(x, x.flip(0))), x)
    assert int(result[0][0]) == value


@pytest.mark.parametrize("value", [LOW - 1, HIGH + 1, 2**40, -(2**63), 2**63 - 1])
def test_64_bit_integers_that_do_not_fit_are_refused(value: int) -> None:
    compiled = on_chip(lambda x, y: x[y] + 1)
    x = torch.rand(3)
    with pytest.raises(
        RuntimeError, match=rf"argument 1 of the graph, int64\[2\], has the value {value}; the chip holds"
    ):
        compiled(x, torch.tensor([0, value]))
    assert_agree(compiled(x, torch.tensor([0, -3])), x[[0, -3]] + 1)


@pytest.mark.parametrize("value", [LOW - 1, HIGH + 1, 2**40])
def test_numbers_that_do_not_fit_are_computed_by_pytorch(value: int) -> None:
    with pytest.warns(UserWarning, match=r"PyTorch runs what the chip has no op for: aten\.\w+"):
        torch._dynamo.reset()
        big, small, compared = torch.compile(lambda x: (x + value, x + 1, x + value > 0), backend="tt")(
            torch.tensor([1, -1])
        )
    assert big.tolist() == [1 + value, value - 1] and small.tolist() == [2, 0]
    assert compared.tolist() == [1 + value > 0, value - 1 > 0]


@pytest.mark.long
def test_64_bit_integers_are_spoken_of_once() -> None:
    program = (
        "import torch, warnings\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    for k in range(3):\n"
        "        torch._dynamo.reset()\n"
        "        torch.compile(lambda x: x + k, backend='tt')(torch.tensor([1, 2]))\n"
        "print(sum('64-bit' in str(w.message) for w in seen))\n"
    )
    done = python_process.run(["-c", program])
    assert done.stdout.split() == ["1"], done.stderr


def test_double_is_named_once_for_each_program() -> None:
    def function(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return (x * 2 + y.double()).sin()

    x, y = torch.rand(3, dtype=torch.float64, requires_grad=True), torch.rand(3)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        compiled = on_chip(function)
        for _ in range(2):
            result = compiled(x, y)
            result.sum().backward()
    texts = [str(w.message) for w in seen if "float64" in str(w.message)]
    assert len(texts) == 1
    assert "float64 is computed in float32 on the chip: " in texts[0]
    assert texts[0].count("float64[3] (") == 2 and "test_torch_types.py:" in texts[0]
    assert result.dtype is torch.float64
    torch.testing.assert_close(result, function(x, y), rtol=1e-5, atol=1e-6)


def test_no_double_no_word_of_it() -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*float64.*")
        check(lambda x: nn.functional.gelu(x * 0.1 + 3) / 7, torch.rand(4))


def ends(dtype: torch.dtype) -> torch.Tensor:
    info = torch.iinfo(dtype)
    return torch.tensor([info.min, info.min + 1, 0, 1, 2, 3, info.max // 2, info.max - 1, info.max], dtype=dtype)


WRAPPING: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "neg": lambda x, y: -x,
    "abs": lambda x, y: x.abs(),
    "square": lambda x, y: x * x * y,
    "number": lambda x, y: x * 3 + 100 - y,
    "not": lambda x, y: ~x & y,
    "sum": lambda x, y: (x + y).sum(dtype=x.dtype),
    "prod": lambda x, y: (x * y).prod(0, dtype=x.dtype),
    "cumsum": lambda x, y: (x - y).cumsum(0, dtype=x.dtype),
    "to": lambda x, y: (x.to(torch.int32) * 3).to(torch.uint8),
    "matmul": lambda x, y: x[:8].view(2, 4) @ y[:8].view(4, 2),
}


@pytest.mark.parametrize("dtype", NARROW, ids=str)
@pytest.mark.parametrize("name", WRAPPING)
def test_integers_wrap_around_as_pytorch_has_it(name: str, dtype: torch.dtype) -> None:
    x = ends(dtype)
    for y in (x, x.flip(0)):
        check(WRAPPING[name], x, y)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_integer_division_by_nonzero(dtype: torch.dtype) -> None:
    x = ends(dtype)
    y = torch.tensor([1, 2, 3, 7, 5, 4, 3, 2, 1], dtype=dtype)

    def function(x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        return [x // y, x % y, torch.fmod(x, y), torch.div(x, y, rounding_mode="trunc"), torch.remainder(x, y)]

    check(function, x, y)
    if dtype is not torch.uint8:
        check(function, x[1:], -y[1:])


DIVISIONS: dict[str, Callable[..., torch.Tensor]] = {
    "//": lambda x, y: x // y,
    "%": lambda x, y: x % y,
    "fmod": torch.fmod,
    "trunc": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
}


@pytest.mark.parametrize("dtype", [*NARROW, torch.int64], ids=str)
@pytest.mark.parametrize("name", DIVISIONS)
def test_integers_divided_by_the_number_zero_are_an_error_as_in_pytorch(name: str, dtype: torch.dtype) -> None:
    function = DIVISIONS[name]
    x = torch.tensor([0, 1, 5], dtype=dtype)
    for run in (function, on_chip(lambda x: function(x, 0))):
        with pytest.raises(RuntimeError, match="ZeroDivisionError"):
            run(x, 0) if run is function else run(x)


@pytest.mark.parametrize("name", DIVISIONS)
def test_zeros_among_divisors_do_not_touch_other_quotients(name: str) -> None:
    x, y = torch.tensor([7, 7, -7], dtype=torch.int32), torch.tensor([2, 0, -3], dtype=torch.int32)
    got = on_chip(DIVISIONS[name])(x, y)
    assert torch.equal(got[::2], DIVISIONS[name](x[::2], y[::2]))


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_shifts(dtype: torch.dtype) -> None:
    bits = torch.iinfo(dtype).bits
    x = ends(dtype)
    for by in (0, 1, bits - 1):
        y = torch.full_like(x, by)
        check(lambda x, y: (x << y, x >> y), x, y)


@pytest.mark.parametrize("training", [False, True], ids=["forward", "backward"])
def test_autocast(training: bool) -> None:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4), nn.Softmax(-1))
    x = torch.rand(8, 16)
    results = []
    for run in (model, on_chip(model)):
        model.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16), torch.set_grad_enabled(training):
            y = run(x)
            loss = (y.float() * torch.arange(4)).square().mean()
        if training:
            loss.backward()
        results.append([y.detach(), *(p.grad.clone() for p in model.parameters() if training)])
    want, got = results
    assert [a.dtype for a in got] == [b.dtype for b in want]
    assert want[0].dtype is torch.bfloat16 or want[0].dtype is torch.float32
    for a, b in zip(got, want, strict=True):
        assert float((a.double() - b.double()).abs().max()) <= 4e-2 * float(b.double().abs().max())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
def test_statistics_that_evaluation_does_not_compute_are_empty(dtype: torch.dtype) -> None:
    x, mean, variance = torch.randn(3, 2, 4).to(dtype), torch.randn(2).to(dtype), torch.rand(2).to(dtype) + 1
    with torch.no_grad(), record() as reports:
        check(lambda x, m, v: torch.native_batch_norm(x, None, None, m, v, False, 0.1, 1e-5), x, mean, variance)
    assert not any(report.on_host for report in reports)


WIDE_SUMS: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "sum": lambda x: x.sum(),
    "sum of rows": lambda x: x.sum(1),
    "sum of int32": lambda x: x.int().sum(),
    "prefix sums": lambda x: x.cumsum(0),
    "product": lambda x: x.prod(1),
    "prefix products": lambda x: torch.cumprod(x, 0),
    "products": lambda x: x * x,
    "matrix product": lambda x: x.t() @ x,
    "matrix by vector": lambda x: x @ x[0],
    "dot product": lambda x: x[0] @ x[1],
    "product and sum": lambda x: torch.addmm(x[:4], x[:4], x[:4]),
    "square": lambda x: x.square(),
    "power": lambda x: x**4,
    "left shift": lambda x: x << 3,
    "left shift by a tensor": lambda x: x << torch.tensor([1, 2, 3, 4]),
    "from f32": lambda x: (x.float() * 7.5).long(),
    "from f64": lambda x: (x.double() * 16).to(torch.int64),
    "rounded": lambda x: torch.round(x.float() * 2.5).long(),
    "addr": lambda x: torch.addr(x[:4] * 0, x[0], x[1]),
    "addbmm": lambda x: torch.addbmm(torch.zeros(4, 4).long(), x.reshape(2, 4, 4), x.reshape(2, 4, 4)),
    "add with alpha": lambda x: torch.add(x, x, alpha=5),
    "rsub with alpha": lambda x: torch.rsub(x, x, alpha=-5),
    "index_put": lambda x: torch.zeros(2, 4).long().index_put((torch.zeros(8).long(),), x, accumulate=True),
    "scatter_reduce of products": lambda x: x.scatter_reduce(0, torch.zeros_like(x), x + 1, "prod"),
    "index_add": lambda x: x.index_add(0, torch.zeros(8, dtype=torch.long), x),
    "scatter_reduce": lambda x: x.scatter_reduce(0, torch.zeros_like(x), x, "sum"),
}


@pytest.mark.parametrize("name", WIDE_SUMS)
def test_sums_beyond_32_bits_are_right(name: str) -> None:
    """PyTorch runs the graph where 32 bits may not do, and only there."""
    function = WIDE_SUMS[name]
    compiled = on_chip(function)
    small, large = torch.arange(32).reshape(8, 4) % 3, torch.full((8, 4), 2**30 - 7)
    with record() as reports, warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        assert torch.equal(compiled(small), function(small))
        assert not [w for w in found if "PyTorch runs" in str(w.message)]
        assert torch.equal(compiled(large), function(large))
    assert any("may exceed the 32 bits" in str(w.message) for w in found), [str(w.message) for w in found]
    assert not reports[0].on_host


def test_sums_that_fit_for_sure_are_not_looked_at() -> None:
    def function(x: torch.Tensor) -> list[torch.Tensor]:
        mask = x > 3
        return [mask.sum(), mask.long().cumsum(0), torch.arange(9).sum(), x.to(torch.int8).sum(), mask.long() * 7]

    with record() as reports:
        assert_agree(on_chip(function)(torch.arange(8)), function(torch.arange(8)))
    assert not reports[0].programs[0].imported.limits


def test_unsigned_integers_beyond_32_bits_with_sign_are_whole() -> None:
    compiled = on_chip(lambda x: x.long())
    small, large = (torch.tensor([0, value], dtype=torch.uint32) for value in (2**31 - 2**22, 3_000_000_000))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert torch.equal(compiled(small), small.long())
    with pytest.warns(UserWarning, match="may exceed the 32 bits"):
        assert compiled(large).tolist() == [0, 3_000_000_000]


@pytest.mark.parametrize("source", [torch.float32, torch.bfloat16, torch.float16], ids=str)
@pytest.mark.parametrize("dtype", [*NARROW[:3], torch.uint16], ids=str)
def test_floats_that_become_narrow_integers_keep_the_lowest_bits(dtype: torch.dtype, source: torch.dtype) -> None:
    x = torch.tensor([-1.9, 0.9, -300, 300, 200.5, 255.9, 32768, 40000, -40000], dtype=source)
    check(lambda x: (x.to(dtype), (x * 1.5 + 1).to(dtype), torch.zeros(9, dtype=dtype).copy_(x)), x)


@pytest.mark.long
@pytest.mark.parametrize("rank", [1, 2, 3])
@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_convolutions_of_narrow_integers_wrap_around(dtype: torch.dtype, rank: int) -> None:
    """Values of the whole range of the type; PyTorch's own sums of 64 bits, cut to the type, are expected."""
    function = [nn.functional.conv1d, nn.functional.conv2d, nn.functional.conv3d][rank - 1]
    limits, generator = torch.iinfo(dtype), torch.Generator().manual_seed(rank)

    def draw(*shape: int) -> torch.Tensor:
        return torch.randint(limits.min, limits.max + 1, shape, dtype=dtype, generator=generator)

    x, w, b = draw(2, 4, *[6] * rank), draw(6, 2, *[3] * rank), draw(6)
    expected = function(x.long(), w.long(), b.long(), 2, 1, 1, 2).to(dtype)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = on_chip(lambda x, w, b: function(x, w, b, 2, 1, 1, 2))(x, w, b)
    assert found.dtype == dtype
    assert torch.equal(found, expected)
