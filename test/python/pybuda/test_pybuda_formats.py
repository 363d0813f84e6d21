# SPDX-License-Identifier: Apache-2.0
"""Data formats: of devices, ops, inputs and parameters, against roundings computed here."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pybuda
import pytest
import torch
from modules import Function, Product, read
from pybuda import DataFormat, FormatError, MathFidelity

X = torch.from_numpy(np.random.default_rng(0).normal(size=(32, 32)).astype(np.float32))


def block_rounded(x: np.ndarray, bits: int) -> np.ndarray:
    """One exponent for 16 elements of a row, the largest; mantissas with so many bits, halves away from 0."""
    blocks = x.reshape(-1, 16).astype(np.float64)
    exponent = np.floor(np.log2(np.abs(blocks).max(1, keepdims=True)))
    step = 2.0 ** (exponent - bits + 1)
    whole = np.sign(blocks) * np.floor(np.abs(blocks) / step + 0.5)
    return (np.clip(whole, -(2**bits) + 1, 2**bits - 1) * step).reshape(x.shape)


def block_cut(x: np.ndarray, bits: int) -> np.ndarray:
    """Packs as a card does: 7 bits rounded, and those after the first ones truncated."""
    exact = block_rounded(x, 7).reshape(-1, 16)
    step = 2.0 ** (np.floor(np.log2(np.abs(x.reshape(-1, 16)).max(1, keepdims=True))) - bits + 1)
    return (np.trunc(exact / step) * step).reshape(x.shape)


ROUNDED = {
    DataFormat.Float32: lambda x: x,
    DataFormat.Float16: lambda x: x.astype(np.float16),
    DataFormat.Float16_b: lambda x: x.astype(ml_dtypes.bfloat16),
    DataFormat.Bfp8_b: lambda x: block_rounded(x, 7),
    DataFormat.Bfp4_b: lambda x: block_rounded(x, 3),
    DataFormat.Bfp2_b: lambda x: block_rounded(x, 1),
}


def ulp_equal(got: torch.Tensor, want: np.ndarray, data_format: DataFormat) -> None:
    """Equal but where the value lies between two of the format, which ties may decide either way."""
    different = (got.numpy() != want.astype(np.float32)).mean()
    assert different < 0.01, f"{data_format}: {different:.1%} differ"


@pytest.mark.parametrize("data_format", ROUNDED, ids=str)
def test_an_ops_output(data_format: DataFormat) -> None:
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
    pybuda.configure_mixed_precision(name_regex="^square$", output_df=data_format)
    (got,) = Function("f", lambda x: pybuda.op.Multiply("square", x, x)).run(X)
    ulp_equal(got.value(), ROUNDED[data_format](X.numpy() * X.numpy()), data_format)


@pytest.mark.parametrize("data_format", [DataFormat.Bfp8, DataFormat.Bfp4, DataFormat.Bfp2], ids=str)
def test_blocks_with_a_short_exponent_round_like_those_with_a_long_one(data_format: DataFormat) -> None:
    values = {}
    for one in (data_format, DataFormat[data_format.name + "_b"]):
        pybuda.pybudaglobal.pybuda_reset()
        pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
        pybuda.configure_mixed_precision(op_type="Abs", output_df=one)
        values[one] = Function("f", lambda x: pybuda.op.Abs("abs", x)).run(X)[0].value()
    one, other = values.values()
    assert torch.allclose(one, other, atol=0.51) and not torch.equal(one, X.abs())


def test_an_inputs_and_a_parameters_format() -> None:
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
    pybuda.configure_mixed_precision(name_regex="^x$", output_df=DataFormat.Bfp4_b)
    module = Product("product", torch.eye(32), torch.zeros(32))
    (got,) = module.run(X)
    ulp_equal(got.value(), block_rounded(X.numpy(), 3), DataFormat.Bfp4_b)
    pybuda.pybudaglobal.pybuda_reset()
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
    module = Product("product", X, torch.zeros(32))
    module.weights.set_data_format(DataFormat.Bfp8_b)
    (got,) = module.run(torch.eye(32))
    ulp_equal(got.value(), block_rounded(X.numpy(), 7), DataFormat.Bfp8_b)


def test_an_op_with_more_precision_than_its_device() -> None:
    pybuda.configure_mixed_precision(name_regex="^third$", output_df=DataFormat.Float32)
    (got,) = Function("f", lambda x: pybuda.op.Multiply("third", x, pybuda.op.Constant("c", constant=0.25))).run(X)
    x = X.numpy().astype(ml_dtypes.bfloat16).astype(np.float32)
    np.testing.assert_array_equal(got.value().numpy(), x * np.float32(0.25))


@pytest.mark.parametrize(
    "given, fallback, expected",
    [
        (torch.float32, DataFormat.Float16, np.float16),
        (torch.float32, DataFormat.Float32, np.float32),
        (torch.float16, DataFormat.Float16_b, np.float16),
        (torch.bfloat16, DataFormat.Float16, ml_dtypes.bfloat16),
    ],
)
def test_the_devices_format_is_that_of_its_inputs_or_the_fallback(
    given: torch.dtype, fallback: DataFormat, expected: type
) -> None:
    device = pybuda.TTDevice("tt0", module=Function("f", lambda x: x * x), fp32_fallback=fallback)
    device.push_to_inputs(X.to(given))
    (got,) = read(pybuda.run_inference())
    x = X.to(given).float().numpy().astype(expected).astype(np.float32)
    np.testing.assert_allclose(got.float().numpy(), (x * x).astype(expected).astype(np.float32), rtol=1e-6)


def test_ops_of_pytorch_by_type() -> None:
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
    pybuda.configure_mixed_precision(op_type="matmul", output_df=DataFormat.Bfp4_b)
    model = torch.nn.Linear(32, 32, bias=False)
    with torch.no_grad():
        model.weight.copy_(torch.eye(32))
    (got,) = pybuda.PyTorchModule("linear", model).run(X)
    ulp_equal(got.value(), block_rounded(X.numpy(), 3), DataFormat.Bfp4_b)


@pytest.mark.parametrize("level, bits", [("1", 7), ("2", 3)])
def test_weights_by_the_environment(monkeypatch: pytest.MonkeyPatch, level: str, bits: int) -> None:
    monkeypatch.setenv("PYBUDA_AMP_LIGHT", level)
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32)
    # The switch sets a fidelity, too, and with it the arithmetic of a card.
    (got,) = Product("product", X, torch.zeros(32)).run(torch.eye(32))
    ulp_equal(got.value(), block_cut(X.numpy(), bits), DataFormat.Bfp8_b)


def test_an_environment_that_is_wrong(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYBUDA_AMP_LIGHT", "3")
    with pytest.raises(ValueError, match="PYBUDA_AMP_LIGHT=3; expected one of 0, 1, 2"):
        Product("product", X, torch.zeros(32)).run(X)


@pytest.mark.parametrize("data_format", [DataFormat.Int8, DataFormat.Invalid, "bf16", 3], ids=str)
def test_formats_that_no_float_has(data_format: object) -> None:
    with pytest.raises(FormatError, match=r"accumulate_df is .*; expected a float format of the chip: Float32, Float1"):
        pybuda.configure_mixed_precision(name_regex="x", accumulate_df=data_format)
    with pytest.raises(FormatError, match="fp32_fallback of device 'tt0' is"):
        pybuda.TTDevice("tt0", fp32_fallback=data_format)
    with pytest.raises(FormatError, match="the data format of parameter 'w' is"):
        pybuda.Parameter(X, name="w").set_data_format(data_format)


def test_enumerations_are_text() -> None:
    assert DataFormat.from_json(DataFormat.Bfp8_b.to_json()) is DataFormat.Bfp8_b
    assert MathFidelity.HiFi3.name == "HiFi3" and str(MathFidelity.LoFi) == "MathFidelity.LoFi"
    with pytest.raises(ValueError, match="MathFidelity has no member 'HiFi5'; known: LoFi, HiFi2"):
        MathFidelity.from_json("HiFi5")
