# SPDX-License-Identifier: Apache-2.0
"""Ops that are tagged run as native code of the host: they compute what their goldens say, and only where allowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from _ttmlir_runtime import binary
from builder.base.builder_apis import build_module
from op_cases import HOST, TABLE, Compiled, built, compared, execute, lowered, runs, tagged
from op_gaps import NO_HOST
from ttmlir import ir
from ttmlir.passes import ttnn_to_flatbuffer_bin

# What the host refuses of a row.
REFUSED = {
    ("ttir.pow", "i32"): "powers of integers are not computed on the host",
}


def flatbuffer(module: ir.Module, name: str, options: str = "") -> bytes:
    return ttnn_to_flatbuffer_bin(lowered(tagged(module, lambda op: op.name == name), (1, 1), options))


@pytest.mark.sampled(4)
@pytest.mark.parametrize(("name", "dtype"), [run for run in runs(TABLE) if run[0] in HOST and run not in REFUSED])
def test_agrees_with_golden(name: str, dtype: str) -> None:
    module, builder = built(name, dtype)
    program = binary.load_binary_from_bytes(flatbuffer(module, name), allow_native=True)
    assert program.has_native
    row = Compiled(TABLE[name], dtype, program, dict(builder.golden_map[0].items()))
    for outcome in compared(row):
        where = f"{name} {dtype} case {outcome.case} ({TABLE[name].cases[outcome.case]}), output {outcome.output}"
        assert not outcome.comparison.problem, f"{where}: {outcome.comparison.problem}"
        assert outcome.comparison.within, f"{where}: error {outcome.comparison.max_abs:.3g}"


@pytest.mark.parametrize("name", sorted(NO_HOST.keys() & TABLE.keys()))
def test_ops_without_code_are_refused(name: str) -> None:
    module, _ = built(name, "f32")
    with pytest.raises(ir.MLIRError) as error:
        flatbuffer(module, name)
    assert name in str(error.value)


# ---------------------------------------------------------------------- tensors without elements

Shape = tuple[int, ...]
# Shapes of the arguments, the call, and what it gives.
EMPTY: dict[str, tuple[list[Shape], Callable[..., Any], Callable[..., torch.Tensor]]] = {
    "sigmoid": ([(0, 4)], lambda b, x: b.sigmoid(x), torch.sigmoid),
    "of rank 1": ([(0,)], lambda b, x: b.exp(x), torch.exp),
    "of several dimensions 0": ([(2, 0, 3, 0)], lambda b, x: b.neg(x), torch.neg),
    "add, repeated": ([(0, 4), (1, 4)], lambda b, x, y: b.add(x, y), torch.add),
    "where": ([(0, 4), (0, 1), (4,)], lambda b, c, x, y: b.where(c, x, y), lambda c, x, y: torch.where(c != 0, x, y)),
    "typecast": (
        [(0, 4)],
        lambda b, x: b.typecast(x, output_type=torch.bfloat16),
        lambda x: x.bfloat16(),
    ),
    "sum over none": ([(0, 4)], lambda b, x: b.sum(x, dim_arg=[0], keep_dim=False), lambda x: x.sum(0)),
    "sum of none": ([(0, 4)], lambda b, x: b.sum(x, dim_arg=[1], keep_dim=True), lambda x: x.sum(1, True)),
    "prod over none": ([(0, 4)], lambda b, x: b.prod(x, dim_arg=[0], keep_dim=False), lambda x: x.prod(0)),
    "mean over none": ([(0, 4)], lambda b, x: b.mean(x, dim_arg=[0], keep_dim=False), lambda x: x.mean(0)),
    "max of none": ([(0, 4)], lambda b, x: b.max(x, dim_arg=[1], keep_dim=False), lambda x: x.amax(1)),
    "matmul over none": ([(3, 0), (0, 5)], lambda b, x, y: b.matmul(x, y), torch.matmul),
    "matmul of no rows": ([(0, 4), (4, 5)], lambda b, x, y: b.matmul(x, y), torch.matmul),
    "matmul of no batches": ([(0, 3, 4), (0, 4, 5)], lambda b, x, y: b.matmul(x, y), torch.matmul),
    "concat": ([(0, 4), (3, 4), (0, 4)], lambda b, *x: b.concat(list(x), dim=0), lambda *x: torch.cat(x)),
    "concat of none": ([(0, 4), (0, 4)], lambda b, *x: b.concat(list(x), dim=1), lambda *x: torch.cat(x, 1)),
    "slice": (
        [(3, 4)],
        lambda b, x: b.slice_static(x, begins=[1, 2], ends=[1, 4], step=[1, 1]),
        lambda x: x[1:1, 2:4],
    ),
    "slice backward": (
        [(3, 4)],
        lambda b, x: b.slice_static(x, begins=[1, 3], ends=[1, 0], step=[-1, -2]),
        lambda x: x[1:1, 2:4],
    ),
    "pad": ([(0, 4)], lambda b, x: b.pad(x, padding=[1, 1, 0, 0], value=1.5), lambda x: torch.full((2, 4), 1.5)),
    "reshape": ([(0, 4)], lambda b, x: b.reshape(x, shape=[2, 0, 7]), lambda x: x.reshape(2, 0, 7)),
    "reshape to rank 1": ([(2, 0, 7)], lambda b, x: b.reshape(x, shape=[0]), lambda x: x.reshape(0)),
    "permute": ([(2, 0, 3)], lambda b, x: b.permute(x, permutation=[2, 0, 1]), lambda x: x.permute(2, 0, 1)),
    "transpose": ([(0, 4)], lambda b, x: b.transpose(x, dim0=0, dim1=1), lambda x: x.T),
    "unsqueeze": ([(0, 4)], lambda b, x: b.unsqueeze(x, dim=0), lambda x: x.unsqueeze(0)),
    "squeeze": ([(1, 0)], lambda b, x: b.squeeze(x, dim=0), lambda x: x.squeeze(0)),
    "broadcast": ([(0, 1)], lambda b, x: b.broadcast(x, broadcast_dimensions=[1, 3]), lambda x: x.expand(0, 3)),
    "repeat": ([(0, 2)], lambda b, x: b.repeat(x, repeat_dimensions=[2, 3]), lambda x: x.repeat(2, 3)),
    "repeat_interleave": (
        [(0, 2)],
        lambda b, x: b.repeat_interleave(x, repeats=2, dim=0),
        lambda x: x.repeat_interleave(2, 0),
    ),
    "reverse": ([(0, 2)], lambda b, x: b.reverse(x, dimensions=[0]), lambda x: x.flip(0)),
    "sort": ([(0, 7)], lambda b, x: b.sort(x, dim=-1)[0], lambda x: x),
    "sort over none": ([(3, 0)], lambda b, x: b.sort(x, dim=-1)[0], lambda x: x),
    "topk": ([(0, 7)], lambda b, x: b.topk(x, k=2)[0], lambda x: x[:, :2]),
    "softmax": ([(0, 7)], lambda b, x: b.softmax(x, dimension=-1), lambda x: x),
    "zeros": ([(4,)], lambda b, x: b.zeros(shape=[0, 4], dtype=torch.float32), lambda x: torch.zeros(0, 4)),
    "constant": ([(4,)], lambda b, x: b.constant(torch.zeros(0, 4)), lambda x: torch.zeros(0, 4)),
}


@pytest.mark.parametrize("mesh", [(1, 1), (1, 2)], ids=str)
@pytest.mark.parametrize("name", EMPTY)
def test_tensors_without_elements(name: str, mesh: tuple[int, int]) -> None:
    shapes, call, reference = EMPTY[name]

    def module(builder: Any) -> None:
        def main(*arguments: Any) -> Any:
            return call(arguments[-1], *arguments[:-1])

        builder.func(shapes, [torch.float32] * len(shapes))(main)

    result, builder = build_module(module, "ttir", mesh_dict={"x": mesh[0], "y": mesh[1]})
    hoisted = tagged(result, lambda op: op.name.startswith("ttir."))
    program = binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(hoisted, mesh)), allow_native=True)
    assert program.has_native
    inputs = builder.golden_map[0][0].inputs
    (found,) = execute(program, 0, inputs, mesh)
    expected = reference(*(each.shard_at(0) for each in inputs))
    for shard in found:
        torch.testing.assert_close(shard, expected.contiguous(), equal_nan=True)


@pytest.mark.parametrize("options", ["", "enable-cpu-hoisted-const-eval=true"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.float64, torch.int64, torch.uint16], ids=str)
def test_constants_of_types_that_the_chip_or_the_host_lacks(dtype: torch.dtype, options: str) -> None:
    values = torch.tensor([3.0, 0.0, 7.0] if not dtype.is_floating_point else [-1.578125, 0.25, 2.0]).to(dtype)

    def module(builder: Any) -> None:
        @builder.func([(3,)], [dtype])
        def main(x: Any, builder: Any) -> Any:
            return builder.add(x, builder.reshape(builder.constant(values.reshape(3, 1)), shape=[3]))

    result, builder = build_module(module, "ttir", mesh_dict={"x": 1, "y": 1})
    # Constants by themselves, and with what is computed of them.
    hoisted = result if options else tagged(result, lambda op: op.name == "ttir.constant")
    program = binary.load_binary_from_bytes(
        ttnn_to_flatbuffer_bin(lowered(hoisted, (1, 1), options)), allow_native=True
    )
    index = next(i for i in range(program.get_num_programs()) if not program.is_program_private(i))
    goldens = builder.golden_map[0][0]
    ((found,),) = execute(program, index, goldens.inputs, (1, 1))
    torch.testing.assert_close(found.double(), goldens.outputs[0].shard_at(0).double(), rtol=1e-3, atol=1e-3)


X = torch.arange(1.0, 7.0).reshape(2, 3)
INDEX, SOURCE = torch.tensor([[1, 0], [0, 1]]), torch.tensor([[9.0, 8.0], [7.0, 6.0]])
READS: dict[str, tuple[str, Callable[[int], torch.Tensor]]] = {
    "gather": ('"ttir.gather"(%x, %i) <{{dim = {dim} : i32}}> : ({x}, {i}) -> {s}', lambda dim: X.gather(dim, INDEX)),
    "scatter": (
        '"ttir.scatter"(%x, %i, %s) <{{dim = {dim} : i32, scatter_reduce_type = #ttcore.reduce_type<invalid>}}> : '
        "({x}, {i}, {s}) -> {x}",
        lambda dim: X.scatter(dim, INDEX, SOURCE),
    ),
    "cumsum": ('"ttir.cumsum"(%x) <{{dim = {dim} : i64}}> : ({x}) -> {x}', lambda dim: X.cumsum(dim)),
}


@pytest.mark.parametrize("dim", [-2, -1, 0, 1])
@pytest.mark.parametrize("name", READS)
def test_negative_dimensions_count_from_the_end(name: str, dim: int) -> None:
    """Ops of constants, which constant evaluation moves to the host."""
    call, reference = READS[name]
    types = {"x": "tensor<2x3xf32>", "i": "tensor<2x2xi32>", "s": "tensor<2x2xf32>"}
    result = types["s" if name == "gather" else "x"]
    constants = "".join(
        f'%{key} = "ttir.constant"() <{{value = dense<{value.tolist()}> : {types[key]}}}> : () -> {types[key]}\n'
        for key, value in (("x", X), ("i", INDEX), ("s", SOURCE))
    )
    text = (
        f"func.func @main() -> {result} {{\n{constants}%r = {call.format(dim=dim, **types)}\nreturn %r : {result}\n}}"
    )
    module = lowered(ir.Module.parse(text, ir.Context()), (1, 1), "enable-cpu-hoisted-const-eval=true")
    program = binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(module), allow_native=True)
    assert program.has_native
    ((found,),) = execute(program, 0, [], (1, 1))
    assert torch.equal(found, reference(dim))


@pytest.mark.parametrize("on_host", [False, True])
@pytest.mark.parametrize("name", ["sum", "max", "mean", "prod", "sum * 1", "sum / 6"])
def test_an_empty_list_reduces_all_dimensions(name: str, on_host: bool) -> None:
    """A sum over all of them and a number is mean if the number is that of all elements, not that of none."""
    op, _, number = name.partition(" ")

    def module(builder: Any) -> None:
        def main(x: Any, builder: Any) -> Any:
            y = getattr(builder, op)(x, dim_arg=[], keep_dim=False)
            if not number:
                return y
            factor = builder.constant(torch.tensor(float(number[-1])))
            return builder.multiply(y, factor) if number[0] == "*" else builder.div(y, factor)

        builder.func([(2, 3)], [torch.float32])(main)

    result, builder = build_module(module, "ttir", mesh_dict={"x": 1, "y": 1})
    hoisted = tagged(result, lambda each: each.name == f"ttir.{op}") if on_host else result
    program = binary.load_binary_from_bytes(ttnn_to_flatbuffer_bin(lowered(hoisted, (1, 1))), allow_native=True)
    inputs = builder.golden_map[0][0].inputs
    index = next(i for i in range(program.get_num_programs()) if not program.is_program_private(i))
    ((found,),) = execute(program, index, inputs, (1, 1))
    x = inputs[0].shard_at(0)
    expected = {"max": x.amax, "sum": x.sum, "mean": x.mean, "prod": x.prod}[op]()
    if number:
        expected = expected * float(number[-1]) if number[0] == "*" else expected / float(number[-1])
    torch.testing.assert_close(found, expected)
