# SPDX-License-Identifier: Apache-2.0
"""Every data format, and every argument of `configure_mixed_precision`, changes numbers as it says: compared with
roundings that are computed here, slowly."""

from __future__ import annotations

import bisect
import math
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pybuda
import pytest
import torch
from modules import Function, Product, read
from pybuda import DataFormat, FormatError, PyBudaError, op

RANDOM = np.random.default_rng(0)
X = torch.from_numpy(RANDOM.normal(size=(32, 64)).astype(np.float32))
W = torch.from_numpy(RANDOM.normal(size=(64, 32)).astype(np.float32))

# Every number of Lf8 that is not negative: 5 bits of exponent, of which 0 is the number 0, and 2 of mantissa.
LF8 = [0.0] + [(1 + m / 4) * 2.0 ** (e - 15) for e in range(1, 32) for m in range(4)]


def lf8(x: Any) -> np.ndarray:
    """The number of Lf8 next to x on the side of 0; NaN is larger than all."""

    def one(value: float) -> float:
        found = LF8[-1] if math.isnan(value) else LF8[bisect.bisect_right(LF8, abs(value)) - 1]
        return math.copysign(found, value)

    return np.array([one(float(value)) for value in np.ravel(x)], np.float32).reshape(np.shape(x))


def blocks(bits: int, least: int, most: int) -> Callable[[np.ndarray], np.ndarray]:
    """16 values of a row with the exponent of the largest, from `least` to `most`; ties to even."""

    def rounded(x: np.ndarray) -> np.ndarray:
        result = np.zeros(x.size)
        for begin in range(0, x.size, 16):
            group = x.reshape(-1)[begin : begin + 16].astype(np.float64)
            exponent = math.frexp(np.abs(group).max())[1] - 1
            if exponent >= least:
                unit = 2.0 ** (min(exponent, most) - bits + 1)
                result[begin : begin + 16] = np.clip(np.round(group / unit), 1 - 2**bits, 2**bits - 1) * unit
        return result.reshape(x.shape).astype(np.float32)

    return rounded


def ieee(dtype: Any) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.asarray(x, np.float32).astype(dtype).astype(np.float32)


FLOATS: dict[DataFormat, Callable[[np.ndarray], np.ndarray]] = {
    DataFormat.Float32: lambda x: x,
    DataFormat.Float16: ieee(np.float16),
    DataFormat.Float16_b: ieee(ml_dtypes.bfloat16),
    **{DataFormat[f"Bfp{bits + 1}"]: blocks(bits, -14, 15) for bits in (7, 3, 1)},
    **{DataFormat[f"Bfp{bits + 1}_b"]: blocks(bits, -126, 127) for bits in (7, 3, 1)},
    DataFormat.Lf8: lf8,
}
INTEGERS: dict[DataFormat, tuple[torch.dtype, int, int]] = {
    DataFormat.Int8: (torch.int8, -127, 127),
    DataFormat.Int32: (torch.int32, -(2**31) + 1, 2**31 - 1),
    DataFormat.UInt16: (torch.uint16, 0, 2**16 - 1),
    DataFormat.RawUInt8: (torch.uint8, 0, 2**8 - 1),
    DataFormat.RawUInt16: (torch.uint16, 0, 2**16 - 1),
    DataFormat.RawUInt32: (torch.uint32, 0, 2**32 - 1),
}


def fresh() -> None:
    pybuda.pybudaglobal.pybuda_reset()
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)


def run(function: Callable[..., Any], *inputs: torch.Tensor) -> torch.Tensor:
    (got,) = Function("f", function).run(*inputs)
    return got.value()


def same(got: torch.Tensor, want: np.ndarray, what: object) -> None:
    np.testing.assert_array_equal(got.float().numpy(), want, err_msg=str(what))


def placed(module: Any, *inputs: torch.Tensor) -> Any:
    device = pybuda.TTDevice("tt0", module=module)
    pybuda.initialize_pipeline(False, sample_inputs=inputs)
    assert device.placement is not None
    return device.placement


#
# Every format
#


def test_every_format_is_here() -> None:
    assert {*FLOATS, *INTEGERS, DataFormat.Invalid} == {*DataFormat}


@pytest.mark.parametrize("data_format", FLOATS, ids=str)
@pytest.mark.parametrize("scale", [1.0, 2.0**-14, 2.0**15], ids=["normal", "small", "large"])
def test_a_product_in_every_float_format(data_format: DataFormat, scale: float, float32: None) -> None:
    pybuda.configure_mixed_precision(name_regex="^square$", output_df=data_format)
    x = X * math.sqrt(scale)
    exact = x.numpy() * x.numpy()
    want = FLOATS[data_format](exact)
    same(run(lambda x: op.Multiply("square", x, x), x), want, data_format)
    assert (data_format is DataFormat.Float32) == np.array_equal(want, exact), "the format changes numbers"


SPECIAL = [
    0.0, -0.0, 1.0, 1.2499999, 1.25, -1.9999999, 2.0**-14, 2.0**-14 * 0.9999999, -(2.0**-15), 1e-40, 98304.0, 114687.99,
    114688.0, -131072.0, 3e38, math.inf, -math.inf, math.nan,
]  # fmt: skip


@pytest.mark.parametrize("shape", [(len(SPECIAL),), (3, 1, len(SPECIAL) // 3), (1, 1)], ids=str)
def test_lf8_truncates_and_saturates(shape: tuple[int, ...], float32: None) -> None:
    pybuda.configure_mixed_precision(name_regex="^kept$", output_df=DataFormat.Lf8)
    x = torch.tensor(SPECIAL[: math.prod(shape)]).reshape(shape)
    got = run(lambda x: op.Buffer("kept", x), x)
    same(got, lf8(x.numpy()), shape)
    assert torch.equal(got.signbit(), x.signbit())


def test_a_device_of_lf8() -> None:
    """Values of all ops, inputs and parameters; the netlist has it, with a byte for each value."""
    pybuda.set_configuration_options(default_df_override=DataFormat.Lf8)
    device = pybuda.TTDevice("tt0", module=Product("product", W, torch.zeros(32)))
    device.push_to_inputs(X)
    (got,) = read(pybuda.run_inference())
    exact = lf8(X.numpy()).astype(np.float64) @ lf8(W.numpy()).astype(np.float64)
    close = np.abs(exact - lf8(exact)) > 1e-5 * np.abs(exact)  # not at a step, where the order of a sum may decide
    np.testing.assert_array_equal(got.numpy()[close], lf8(exact)[close])
    assert close.mean() > 0.9
    assert device.placement is not None and "out_df: Lf8" in device.placement.netlist()
    sizes = {x.queue.name: x.bytes for x in device.placement.layouts.values()}
    assert sizes["weights"] == 32 + 2 * 1024, sizes


def test_a_device_of_lf8_trains() -> None:
    pybuda.set_configuration_options(default_df_override=DataFormat.Lf8)
    device = pybuda.TTDevice("tt0", module=Product("product", W / 8, torch.zeros(32)))
    device.place_loss_module(op.loss.MSELoss("loss"))
    (gradients,) = gradients_of(device, X)
    for gradient in gradients.values():
        same(gradient, lf8(gradient.numpy()), "gradient")


@pytest.mark.parametrize("data_format", INTEGERS, ids=str)
@pytest.mark.parametrize("given", [torch.int8, torch.int32], ids=str)
def test_a_product_in_every_integer_format(data_format: DataFormat, given: torch.dtype) -> None:
    dtype, low, high = INTEGERS[data_format]
    pybuda.configure_mixed_precision(op_type="Multiply", output_df=data_format)
    values = torch.tensor([[100, -100, 3, -3, 127, 0, -128, 1]], dtype=given)
    more = torch.tensor([[100, 100, 5, 7, 127, -9, -128, -1]], dtype=given)
    got = run(lambda x, y: op.Multiply("product", x, y), values, more)
    want = [min(max(a * b, low), high) for a, b in zip(values[0].tolist(), more[0].tolist(), strict=True)]
    assert got.dtype is dtype and got.tolist() == [want]


def test_integers_at_the_width_of_their_format() -> None:
    pybuda.configure_mixed_precision(op_type="Add", output_df=DataFormat.UInt16)
    x = torch.tensor([65535, 65534, 1], dtype=torch.int32)
    got = run(lambda x, y: op.Add("sum", x, y), x, torch.ones(3, dtype=torch.int32))
    assert got.tolist() == [65535, 65535, 2]


def test_parameters_of_integers() -> None:
    weights = pybuda.Parameter(torch.tensor([[300, -300, 5]], dtype=torch.int32), requires_grad=False)
    weights.set_data_format(DataFormat.Int8)

    class Sum(pybuda.PyBudaModule):
        def __init__(self) -> None:
            super().__init__("sum")
            self.weights = weights

        def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
            return op.Add("sum", x, self.weights)

    (got,) = Sum().run(torch.zeros(1, 3, dtype=torch.int32))
    assert got.value().tolist() == [[127, -127, 5]]
    with pytest.raises(FormatError, match=r"parameter 'w' is DataFormat.Float16, and its values are torch.int32; exp"):
        pybuda.Parameter(torch.ones(2, dtype=torch.int32), requires_grad=False, name="w").set_data_format(
            DataFormat.Float16
        )


def test_integers_for_floats_are_refused(float32: None) -> None:
    pybuda.configure_mixed_precision(name_regex="^half$", output_df=DataFormat.Int8)
    with pytest.raises(PyBudaError, match=r"pybuda.op.Multiply 'half': its result has floats, and is to be Int8, "):
        run(lambda x: op.Multiply("half", x, x), X)
    fresh()
    pybuda.configure_mixed_precision(op_type="matmul", output_df=DataFormat.Int8)
    with pytest.raises(PyBudaError, match="the result of matmul has floats, and is to be Int8"):
        pybuda.PyTorchModule("linear", torch.nn.Linear(64, 4)).run(X)
    fresh()
    pybuda.configure_mixed_precision(name_regex="^inputs_0$", output_df=DataFormat.Int8)
    with pytest.raises(PyBudaError, match="input 'inputs_0' has floats, and is to be Int8"):
        run(lambda x: op.Multiply("half", x, x), X)


#
# input_df
#


@pytest.mark.parametrize(
    "given, x_format, w_format",
    [
        ({1: (DataFormat.Bfp4_b, False)}, None, DataFormat.Bfp4_b),
        ({0: (DataFormat.Float16_b, False), 1: DataFormat.Bfp8_b}, None, DataFormat.Bfp8_b),
        ({0: (DataFormat.Lf8, True)}, DataFormat.Lf8, None),
        (DataFormat.Float16, DataFormat.Float16, DataFormat.Float16),
    ],
    ids=["parameter", "not of an op's result", "of an op's result", "all operands"],
)
def test_operands_as_an_op_reads_them(
    given: Any, x_format: DataFormat | None, w_format: DataFormat | None, float32: None
) -> None:
    """Rounds an operand for one op; another op that reads it is not affected."""

    class Two(pybuda.PyBudaModule):
        def __init__(self) -> None:
            super().__init__("two")
            self.w = pybuda.Parameter(W)

        def forward(self, x: pybuda.Tensor) -> Any:
            half = op.Multiply("half", x, op.Constant("c", constant=0.5))
            return op.Matmul("first", half, self.w), op.Matmul("second", half, self.w)

    pybuda.configure_mixed_precision(name_regex="^first$", input_df=given)
    device = pybuda.TTDevice("tt0", module=Two())
    device.push_to_inputs(X)
    first, second = read(pybuda.run_inference())
    x = X.numpy() / 2
    read_x, read_w = (v if f is None else FLOATS[f](v) for v, f in ((x, x_format), (W.numpy(), w_format)))
    np.testing.assert_allclose(first.numpy(), read_x @ read_w, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(second.numpy(), x @ W.numpy(), rtol=1e-5, atol=1e-5)
    assert np.abs(first.numpy() - second.numpy()).max() > 1e-3
    assert device.placement is not None
    shown = [(f or DataFormat.Float32).name for f in (x_format, w_format)]
    assert f"in_df: [{', '.join(shown)}]" in device.placement.netlist()


def test_operands_of_pytorchs_functions(float32: None) -> None:
    pybuda.configure_mixed_precision(op_type="matmul", input_df={1: (DataFormat.Bfp4_b, False)})
    model = torch.nn.Linear(64, 32, bias=False)
    (got,) = pybuda.PyTorchModule("linear", model).run(X)
    weights = FLOATS[DataFormat.Bfp4_b](model.weight.detach().numpy())
    np.testing.assert_allclose(got.value().detach().numpy(), X.numpy() @ weights.T, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("rule", [{"name_regex": "^first$"}, {"name_regex": "^(first|root)$"}, {"op_type": "multiply"}])
def test_an_operand_that_no_op_has(rule: dict[str, str], float32: None) -> None:
    def forward(x: pybuda.Tensor) -> pybuda.Tensor:
        return op.Sqrt("root", op.Multiply("first", x, x))

    pybuda.configure_mixed_precision(**rule, input_df={0: DataFormat.Float16_b, 2: DataFormat.Float16_b})
    with pytest.raises(PyBudaError, match=r"input_df has operand 2; op 'first' has 2, and no op that fits has more"):
        run(forward, X)


#
# intermediate_df
#


def in_parts(x: np.ndarray, w: np.ndarray, inner: int, data_format: DataFormat) -> np.ndarray:
    total = np.zeros((x.shape[0], w.shape[1]), np.float32)
    for begin in range(0, x.shape[1], inner):
        total = FLOATS[data_format](total) if begin else total
        total = total + x[:, begin : begin + inner] @ w[begin : begin + inner]
    return total


LONG = torch.from_numpy(RANDOM.normal(size=(32, 256)).astype(np.float32))
TALL = torch.from_numpy(RANDOM.normal(size=(256, 32)).astype(np.float32))


def near(got: torch.Tensor, want: np.ndarray, whole: np.ndarray) -> None:
    """As `want` but for a few sums at a step of the format, which the order of additions decides; unlike `whole`."""
    assert (np.abs(got.detach().numpy() - want) > 1e-4).mean() < 0.02
    assert (np.abs(want - whole) > 1e-4).mean() > 0.5


@pytest.mark.parametrize("data_format", [DataFormat.Float16_b, DataFormat.Bfp8_b, DataFormat.Lf8], ids=str)
def test_sums_between_parts_of_the_inner_dimension(data_format: DataFormat, float32: None) -> None:
    pybuda.configure_mixed_precision(op_type="Matmul", intermediate_df=data_format)
    pybuda.config.override_u_kt("matmul", 2)
    device = pybuda.TTDevice("tt0", module=Product("product", TALL, torch.zeros(32)))
    device.push_to_inputs(LONG)
    (got,) = read(pybuda.run_inference())
    near(got, in_parts(LONG.numpy(), TALL.numpy(), 64, data_format), LONG.numpy() @ TALL.numpy())
    assert device.placement is not None and f"intermed_df: {data_format.name}" in device.placement.netlist()


def test_sums_of_pytorchs_products(float32: None) -> None:
    """With a bias, which is added at the end."""
    pybuda.configure_mixed_precision(op_type="matmul", intermediate_df=DataFormat.Bfp8_b)
    pybuda.config.override_u_kt("matmul_0", 4)
    model = torch.nn.Linear(256, 32)
    (got,) = pybuda.PyTorchModule("linear", model).run(LONG)
    w, b = model.weight.detach().numpy().T, model.bias.detach().numpy()
    want = in_parts(LONG.numpy(), w, 128, DataFormat.Bfp8_b) + b
    assert (np.abs(got.value().detach().numpy() - want) > 1e-4).mean() < 0.02
    assert (np.abs(want - (LONG.numpy() @ w + b)) > 1e-4).mean() > 0.5


def test_sums_that_are_never_in_memory_are_said(float32: None) -> None:
    pybuda.configure_mixed_precision(op_type="Matmul", intermediate_df=DataFormat.Bfp4_b)
    with pytest.warns(UserWarning, match=r"intermediate_df=Bfp4_b\) changes no number of device 'tt0': .*_u_kt"):
        device = pybuda.TTDevice("tt0", module=Product("product", TALL, torch.zeros(32)))
        device.push_to_inputs(LONG)
        (got,) = read(pybuda.run_inference())
    np.testing.assert_allclose(got.numpy(), LONG.numpy() @ TALL.numpy(), rtol=1e-4, atol=1e-4)


#
# Epochs
#


def gradients_of(device: pybuda.TTDevice, x: torch.Tensor) -> list[dict[str, torch.Tensor]]:
    device.push_to_inputs(x)
    device.push_to_target_inputs(torch.zeros(x.shape[0], 32))
    pybuda.initialize_pipeline(True)
    pybuda.run_forward()
    pybuda.run_backward(zero_grad=True)
    return [{name: g.value() for name, g in found.items()} for found in pybuda.get_parameter_gradients()]


class Deep(pybuda.PyBudaModule):
    """Two products, so that one of them has an input whose gradient matters."""

    def __init__(self) -> None:
        super().__init__("deep")
        self.first, self.second = pybuda.Parameter(W), pybuda.Parameter(torch.eye(32) * 3)

    def forward(self, x: pybuda.Tensor) -> pybuda.Tensor:
        return op.Matmul("two", op.Matmul("one", x, self.first), self.second)


# Rules of the second product -> whether the loss, the gradient of its parameter, and that of its input are rounded.
EPOCHS: dict[str, tuple[dict[str, Any], tuple[bool, bool, bool]]] = {
    "all": ({}, (True, True, True)),
    "forward": ({"epoch_type": "fwd"}, (True, False, False)),
    "backward": ({"epoch_type": "bwd"}, (False, True, True)),
    "gradients": ({"is_gradient_op": True}, (False, True, False)),
    "no gradients": ({"is_gradient_op": False}, (True, False, True)),
    "backward, no gradients": ({"epoch_type": "bwd", "is_gradient_op": False}, (False, False, True)),
}


@pytest.mark.parametrize("name", EPOCHS)
def test_rules_of_epochs(name: str, float32: None) -> None:
    arguments, (forward, parameter, inner) = EPOCHS[name]
    data_format, rounded = DataFormat.Bfp4_b, FLOATS[DataFormat.Bfp4_b]
    pybuda.configure_mixed_precision(name_regex="^two$", output_df=data_format, **arguments)
    device = pybuda.TTDevice("tt0", module=Deep())
    device.place_loss_module(op.loss.MSELoss("loss"))
    (got,) = gradients_of(device, X)

    def kept(x: np.ndarray, condition: bool) -> np.ndarray:
        return rounded(x) if condition else x

    x, w, v = X.numpy(), W.numpy(), 3 * np.eye(32, dtype=np.float32)
    hidden = x @ w
    gradient = 2 * kept(hidden @ v, forward) / 1024
    second, back = kept(hidden.T @ gradient, parameter), kept(gradient @ v.T, inner)
    exact = hidden.T @ (2 * (hidden @ v) / 1024)
    for found, want in ((got["second"], second), (got["first"], x.T @ back)):
        different = np.abs(found.numpy() - want) > 1e-4 * np.abs(want).max()
        assert different.mean() < 0.02, (name, different.mean())
    assert (np.abs(second - exact) > 1e-4 * np.abs(exact).max()).mean() > 0.5 or not (forward or parameter)
    assert device.placement is not None
    formats = {x.op.name: x.op.df for e in device.placement.epochs for x in e.placed if x.op.source == "two"}
    assert (formats["two"] is data_format) == forward and data_format in formats.values()


def test_rules_of_steps(float32: None) -> None:
    """New weights have the format."""
    pybuda.configure_mixed_precision(epoch_type="opt", output_df=DataFormat.Bfp4_b)
    sgd = pybuda.optimizers.SGD(learning_rate=0.01, device_params=True)
    device = pybuda.TTDevice("tt0", module=Deep(), optimizer=sgd)
    device.place_loss_module(op.loss.MSELoss("loss"))
    gradients_of(device, X)
    pybuda.run_optimizer()
    (found,) = pybuda.get_parameter_checkpoint()
    stepped = found["first"].value().detach().numpy()
    np.testing.assert_array_equal(stepped, FLOATS[DataFormat.Bfp4_b](stepped))
    assert not np.array_equal(stepped, FLOATS[DataFormat.Bfp4_b](W.numpy()))
    assert device.placement is not None and "opt" in {e.type for e in device.placement.epochs}


#
# Wrong use
#

WRONG: dict[str, tuple[dict[str, Any], str]] = {
    "a type that there is not": ({"op_type": "mathmul"}, "op_type is 'mathmul'; expected the name of an op of pybuda"),
    "a type that is no text": ({"op_type": 3}, "op_type is 3; expected"),
    "an epoch": ({"epoch_type": "forward"}, "epoch_type is 'forward'; expected one of fwd, bwd, opt"),
    "a gradient": ({"is_gradient_op": 1}, "is_gradient_op is 1; expected True or False"),
    "an operand": ({"op_type": "add", "input_df": {-1: DataFormat.Float16}}, "input_df has -1: "),
    "a pair": ({"op_type": "add", "input_df": {0: (DataFormat.Float16,)}}, "expected the number of an operand, and"),
    "a pair's end": ({"op_type": "add", "input_df": {0: (DataFormat.Float16, 3)}}, "whether also for results of ops"),
    "an operand's format": (
        {"op_type": "add", "input_df": {0: "bf16"}},
        "input_df of operand 0 is 'bf16', which is no DataFormat; expected a format of the chip: ",
    ),
    "all operands' format": (
        {"op_type": "add", "input_df": 3},
        "input_df is 3, which is no DataFormat; expected a format of the chip: ",
    ),
    "an invalid format": ({"op_type": "add", "output_df": DataFormat.Invalid}, "output_df is DataFormat.Invalid; "),
    "integers between": ({"op_type": "add", "intermediate_df": DataFormat.Int8}, "intermediate_df is DataFormat.Int8"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_rules(name: str) -> None:
    arguments, text = WRONG[name]
    with pytest.raises(PyBudaError) as caught:
        pybuda.configure_mixed_precision(**arguments)
    assert text in str(caught.value)


def test_rules_that_nothing_fits(float32: None) -> None:
    """Each is named; those that something fits are not."""
    pybuda.configure_mixed_precision(op_type="Softmax", output_df=DataFormat.Bfp8_b)
    pybuda.configure_mixed_precision(name_regex="^layer.3", math_fidelity=pybuda.MathFidelity.LoFi)
    pybuda.configure_mixed_precision(name_regex="^matmul", epoch_type="bwd", output_df=DataFormat.Bfp8_b)
    for fits in ({"op_type": "matmul"}, {"name_regex": "^weights$"}, {"name_regex": "^x$"}, {"op_type": "ADD"}):
        pybuda.configure_mixed_precision(output_df=DataFormat.Bfp8_b, **fits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Product("product", W, torch.zeros(32)).run(X)
    said = [str(x.message) for x in caught if "configure_mixed_precision" in str(x.message)]
    assert said == [
        f"configure_mixed_precision({rule}) has no effect: no op, parameter or input of the devices fits"
        for rule in (
            "op_type='Softmax', output_df=Bfp8_b",
            "name_regex='^layer.3', math_fidelity=LoFi",
            "name_regex='^matmul', output_df=Bfp8_b, epoch_type='bwd'",
        )
    ]


def test_buffers_of_an_operand_that_is_whole_in_l1() -> None:
    pybuda.config.override_dram_parameters("matmul", False)
    pybuda.config.override_input_buffer_multiplier("matmul", 0, 4)
    assert placed(Product("product", W, torch.zeros(32)), X).placed("matmul").model.in_l1 == (1,)
    pybuda.pybudaglobal.pybuda_reset()
    pybuda.config.override_dram_parameters("matmul", False)
    pybuda.config.override_input_buffer_multiplier("matmul", 1, 4)
    with pytest.raises(
        PyBudaError,
        match=r"override_input_buffer_multiplier\('matmul', 1, 4\): operand 1, 'weights', is in L1 as a whole and has "
        r"no blocks; override_dram_parameters\('matmul', True\) leaves it in DRAM",
    ):
        placed(Product("product", W, torch.zeros(32)), X)


def test_a_type_of_the_netlist_alone() -> None:
    """A concatenation is a splice there."""
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
    pybuda.configure_mixed_precision(op_type="splice", output_df=DataFormat.Bfp4_b)

    class Joined(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.cat([x, x + 1], 1)

    x = torch.rand(32, 32)
    (got,) = pybuda.run_inference(pybuda.PyTorchModule("joined", Joined()), inputs=[(x,)]).get()
    expected = torch.cat([x, x + 1], 1)
    error = (got.value() - expected).abs().max()
    assert 1e-3 < error < 0.5  # rounded to 3 bits
