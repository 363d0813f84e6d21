# SPDX-License-Identifier: Apache-2.0
"""LSTM, GRU and RNN compared with onnxruntime: directions, activations, lengths, layouts, unrolled and as loops."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
import ttmlir.onnx as tt
import ttmlir.onnx.ops.recurrent as recurrent
from compared import compare, compiled, computed, expected, require_same
from onnx import helper, numpy_helper
from ttmlir import ir
from ttmlir.onnx import OnnxError

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
NAMES = ("X", "W", "R", "B", "lengths", "h", "c", "P")


def net(
    op: str, steps: int = 5, batch: int = 3, size: int = 4, hidden: int = 6, direction: str = "forward",
    bias: bool = True, lengths: Any = None, initial: bool = True, peepholes: bool = False, opset: int = 14,
    known: bool = True, layout: int = 0, dtype: Any = np.float32, outputs: str = "", **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Any]]:  # fmt: skip
    """A node with random weights, and its inputs. outputs: names, of all by default."""
    draw = np.random.default_rng(steps + batch)
    many, rows = 2 if direction == "bidirectional" else 1, GATES[op] * hidden

    def floats(*shape: int) -> Any:
        return (0.5 * draw.standard_normal(shape)).astype(dtype)

    states = (batch, many, hidden) if layout else (many, batch, hidden)
    arrays: dict[str, Any] = {
        "X": floats(batch, steps, size) if layout else floats(steps, batch, size),
        "W": floats(many, rows, size), "R": floats(many, rows, hidden), "B": floats(many, 2 * rows) if bias else None,
        "lengths": None if lengths is None else np.array(lengths, np.int32),
        "h": floats(*states) if initial else None, "c": floats(*states) if initial and op == "LSTM" else None,
        "P": floats(many, 3 * hidden) if peepholes else None,
    }  # fmt: skip
    taken = [name if arrays[name] is not None else "" for name in NAMES]
    while not taken[-1]:
        taken.pop()
    names = outputs.split(",") if outputs else ["Y", "Yh", "Yc"][: 3 if op == "LSTM" else 2]
    if layout:
        attributes["layout"] = 1
    node = helper.make_node(op, taken, names, "net", hidden_size=hidden, direction=direction, **attributes)
    kind = helper.np_dtype_to_tensor_dtype
    inside = {name: x for name, x in arrays.items() if known and name in "WRBP" and x is not None}
    given = {name: x for name, x in arrays.items() if x is not None and name not in inside}
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, kind(x.dtype), x.shape) for n, x in given.items()],
        [helper.make_tensor_value_info(n, kind(np.dtype(dtype)), [None] * (4 if n == "Y" else 3)) for n in names if n],
        [numpy_helper.from_array(x, n) for n, x in inside.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), given


@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_directions(op: str, direction: str) -> None:
    compare(*net(op, direction=direction))
    compare(*net(op, direction=direction, lengths=[2, 5, 1], initial=False))
    compare(*net(op, direction=direction, known=False, bias=False, batch=1, steps=1, hidden=1))


@pytest.mark.parametrize("opset", [7, 14, 22])
@pytest.mark.parametrize("op", GATES)
def test_opsets(op: str, opset: int) -> None:
    compare(*net(op, opset=opset))


def text_of(program: Any) -> str:
    """Returns the module, imported again."""
    with ir.Context():
        return str(program.at())


@pytest.mark.parametrize(
    ("op", "attributes"),
    [("RNN", {}), ("GRU", {}), ("GRU", {"linear_before_reset": 1}), ("LSTM", {}), ("LSTM", {"peepholes": True}),
     ("LSTM", {"input_forget": 1}), ("LSTM", {"peepholes": True, "input_forget": 1})],
    ids=str,
)  # fmt: skip
def test_many_steps_are_a_loop(op: str, attributes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    model, given = net(op, 20, direction="bidirectional", lengths=[20, 0, 7], **attributes)
    reference = expected(model, given)
    for most, together in ((20, 1), (19, 1), (19, 6), (19, 20)):
        monkeypatch.setattr(recurrent, "MOST_UNROLLED", most)
        monkeypatch.setattr(recurrent, "TOGETHER", together)
        program = compiled(model, given)
        assert ("stablehlo.while" in text_of(program)) == (most < 20)
        require_same(program(*given.values()), reference)


@pytest.mark.parametrize("steps", [3, 200])
def test_one_product_takes_all_inputs(steps: int) -> None:
    """The inputs' product is one, and weights are the same arguments in each step."""
    program = compiled(*net("LSTM", steps, hidden=32))
    own = steps if steps <= recurrent.MOST_UNROLLED else recurrent.TOGETHER + steps % recurrent.TOGETHER
    assert text_of(program).count("dot_general") == 1 + own
    assert len(program.parameters) == 3


# With alpha and beta that onnxruntime knows no default of.
FUNCTIONS = {
    "Affine": (0.5, 0.25), "Elu": (0.7,), "HardSigmoid": (0.3, 0.4), "LeakyRelu": (0.2,), "Relu": (),
    "ScaledTanh": (0.8, 0.6), "Sigmoid": (), "Softplus": (), "Softsign": (), "Tanh": (), "ThresholdedRelu": (0.1,),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_activations(name: str) -> None:
    numbers = FUNCTIONS[name]
    attributes: dict[str, Any] = {"activations": [name, "Tanh", name, "Tanh"], "direction": "bidirectional"}
    if numbers:
        attributes["activation_alpha"] = [numbers[0], numbers[0] / 2]
    if len(numbers) > 1:
        attributes["activation_beta"] = [numbers[1], numbers[1] / 2]
    compare(*net("GRU", 3, **attributes), atol=1e-4)
    if name in ("Elu", "HardSigmoid", "LeakyRelu"):
        compare(*net("GRU", 3, activations=[name.lower(), "Tanh"]), atol=1e-4)


@pytest.mark.parametrize("op", GATES)
def test_clip(op: str) -> None:
    compare(*net(op, clip=0.3))


@pytest.mark.parametrize("direction", ["reverse", "bidirectional"])
@pytest.mark.parametrize("op", GATES)
def test_batches_in_front(op: str, direction: str) -> None:
    model, given = net(op, layout=1, direction=direction)
    sequence, same = net(op, direction=direction)
    turned = {n: x if n not in "Xhc" else x.swapaxes(0, 1) for n, x in given.items()}
    for name in ("W", "R", "B"):
        numpy = next(t for t in model.graph.initializer if t.name == name)
        next(t for t in sequence.graph.initializer if t.name == name).CopyFrom(numpy)
    reference = expected(sequence, {name: turned[name] for name in same})
    reference[0] = np.moveaxis(reference[0], 2, 0)
    require_same(computed(model, given), [reference[0], *(x.swapaxes(0, 1) for x in reference[1:])])


@pytest.mark.parametrize("outputs", ["Y", ",Yh", ",,Yc", "Y,,Yc"])
def test_unrequested_outputs(outputs: str) -> None:
    compare(*net("LSTM", outputs=outputs))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float16, 2e-3), (ml_dtypes.bfloat16, 2e-2), (np.float64, 1e-5)])
@pytest.mark.parametrize("op", GATES)
def test_types(op: str, dtype: Any, tolerance: float) -> None:
    """Compared with the same weights in float32."""
    model, given = net(op, dtype=dtype, opset=22)
    single, _ = net(op, opset=22)
    for tensor, to in zip(model.graph.initializer, single.graph.initializer, strict=True):
        to.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float32), tensor.name))
    reference = expected(single, {name: x.astype(np.float32) for name, x in given.items()})
    require_same(computed(model, given), [x.astype(dtype) for x in reference], 0, tolerance)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"activations": ["Tanh", "Sine"]}, "activation 'Sine'; known: affine"),
        ({"activations": ["Tanh"]}, "1 activations; expected 2"),
        ({"activations": ["Affine", "Tanh"]}, "activation 'Affine' has no default of alpha"),
        ({"direction": "backward"}, "direction 'backward'; expected forward, reverse or bidirectional"),
        ({"lengths": [1, 2]}, r"sequence_lens is int32\[2\]; expected \[3\]"),
    ],
)
def test_refusals(change: dict[str, Any], text: str) -> None:
    with pytest.raises(OnnxError, match=rf"node 0 'net' \(GRU\): {text}"):
        compiled(*net("GRU", **change))


@pytest.mark.long
@pytest.mark.parametrize("names", [{1: "n"}, {0: "t"}, {0: "t", 1: "n"}], ids=["batch", "steps", "both"])
@pytest.mark.parametrize("op", GATES)
def test_open_sizes(op: str, names: dict[int, str]) -> None:
    """One program for all batches and numbers of steps."""
    model, given = net(op, direction="bidirectional", lengths=[2, 5, 1])
    for declared in model.graph.input:
        for d, dim in enumerate(declared.type.tensor_type.shape.dim):
            name = names.get({"X": d, "lengths": 1}.get(declared.name, d if d == 1 else 2))
            if name:
                dim.dim_param = name
    program = tt.compile(model)
    for steps, batch in ((5, 3), (9, 3), (5, 4), (30, 7), (1, 1)):
        if (steps != 5 and 0 not in names) or (batch != 3 and 1 not in names):
            continue
        lengths = [min(steps, 2), min(steps, 5), 1, 1, steps, 1, 1][:batch]
        given = net(op, steps, batch, direction="bidirectional", lengths=lengths)[1]
        require_same(program(**given), expected(model, given))
    assert [size.name for size in program.open_sizes] == [names[d] for d in sorted(names)], program.closed
