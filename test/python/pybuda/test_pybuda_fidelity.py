# SPDX-License-Identifier: Apache-2.0
"""Fidelity and accumulation of ops change numbers as docs/numerics.md says, against products in f64."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pybuda
import pytest
import torch
from modules import Function, Product, read
from pybuda import DataFormat, MathFidelity, OptionError, TTDeviceImage
from pybuda.pybudaglobal import pybuda_reset
from pybuda.tools.tti_merge import merge_models

pytestmark = pytest.mark.usefixtures("float32")
FIDELITIES = [MathFidelity.LoFi, MathFidelity.HiFi2, MathFidelity.HiFi3, MathFidelity.HiFi4]
RNG = np.random.default_rng(0)
X, W, V = (torch.from_numpy(RNG.normal(size=shape).astype(np.float32)) for shape in ((64, 256), (256, 64), (64, 64)))
TARGET = torch.from_numpy(RNG.normal(size=(64, 64)).astype(np.float32))


def error(got: torch.Tensor, expected: np.ndarray) -> float:
    """Relative root mean square error."""
    difference = got.detach().numpy().astype(np.float64) - expected
    return float(np.sqrt((difference**2).mean() / (expected**2).mean()))


def exactly(*factors: torch.Tensor) -> np.ndarray:
    return np.asarray(np.linalg.multi_dot([x.numpy().astype(np.float64) for x in factors]))


def anew(**options: Any) -> None:
    pybuda_reset()
    pybuda.set_configuration_options(default_df_override=DataFormat.Float32, **options)


def product(x: pybuda.Tensor, w: pybuda.Tensor) -> pybuda.Tensor:
    return pybuda.op.Matmul("matmul", x, w)


def of_one_product(**options: Any) -> torch.Tensor:
    anew(**options)
    (got,) = Function("f", product).run(X, W)
    return got.value()


def test_every_fidelity_is_more_exact_than_the_one_before() -> None:
    errors = {f: error(of_one_product(default_math_fidelity=f), exactly(X, W)) for f in FIDELITIES}
    assert list(errors.values()) == sorted(errors.values(), reverse=True) and len(set(errors.values())) == 4
    # Of products of normal values; LoFi has 5 and 7 bits of the mantissas, HiFi2 10 and 7, HiFi4 all of TF32.
    for fidelity, expected in zip(FIDELITIES, (0.0314, 0.0071, 0.0013, 0.0012), strict=True):
        assert errors[fidelity] == pytest.approx(expected, rel=0.15)
    assert error(of_one_product(), exactly(X, W)) < 1e-6


def test_sums_in_16_bits_are_less_exact_than_in_32() -> None:
    narrow, wide = (
        error(of_one_product(accumulate_df=f, default_math_fidelity=MathFidelity.HiFi4), exactly(X, W))
        for f in (DataFormat.Float16_b, DataFormat.Float32)
    )
    assert wide < 0.002 and 0.005 < narrow < 0.05
    # Of itself it makes the arithmetic a card's, too; its fidelity is HiFi4 then.
    assert error(of_one_product(accumulate_df=DataFormat.Float32), exactly(X, W)) == wide
    # Registers have 16 bits for every format that has no more.
    narrower = of_one_product(accumulate_df=DataFormat.Bfp8_b, default_math_fidelity=MathFidelity.HiFi4)
    assert error(narrower, exactly(X, W)) == narrow


def test_a_default_that_is_set_counts_and_one_that_is_not_does_not() -> None:
    plain, again = of_one_product(), of_one_product()
    assert torch.equal(plain, again)
    requested = of_one_product(default_math_fidelity=MathFidelity.HiFi3)  # the option's default
    assert not torch.equal(plain, requested)
    anew()
    pybuda.config._get_global_compiler_config().default_math_fidelity = MathFidelity.HiFi3
    (got,) = Function("f", product).run(X, W)
    assert torch.equal(got.value(), requested)
    # Nothing is left of it after a reset.
    assert torch.equal(of_one_product(), plain)


def two_products(x: pybuda.Tensor, w: pybuda.Tensor, v: pybuda.Tensor) -> tuple[pybuda.Tensor, pybuda.Tensor]:
    return pybuda.op.Matmul("first", x, w), pybuda.op.Matmul("second", w, v)


def both(**options: Any) -> list[torch.Tensor]:
    pybuda.set_configuration_options(
        default_df_override=DataFormat.Float32, accumulate_df=DataFormat.Float32, **options
    )
    return [x.value() for x in Function("f", two_products).run(X, W, V)]


def test_by_name_only_the_op_that_is_named_changes() -> None:
    high = both(default_math_fidelity=MathFidelity.HiFi4)
    pybuda_reset()
    low = both(default_math_fidelity=MathFidelity.LoFi)
    for number, name in enumerate(("first", "second")):
        pybuda_reset()
        pybuda.configure_mixed_precision(name_regex=f"^{name}$", math_fidelity=MathFidelity.LoFi)
        got = both(default_math_fidelity=MathFidelity.HiFi4)
        assert torch.equal(got[number], low[number]) and torch.equal(got[1 - number], high[1 - number])


def test_last_matching_rule_applies_to_each_field() -> None:
    low = both(default_math_fidelity=MathFidelity.LoFi)
    pybuda_reset()
    pybuda.configure_mixed_precision(name_regex="first", math_fidelity=MathFidelity.HiFi4)
    pybuda.configure_mixed_precision(op_type="Matmul", math_fidelity=MathFidelity.LoFi)
    pybuda.configure_mixed_precision(name_regex="first", accumulate_df=DataFormat.Float16_b)
    got = both()
    assert torch.equal(got[1], low[1])
    assert 0.02 < error(got[0], exactly(X, W)) < 0.05 and not torch.equal(got[0], low[0])


def mixed(x: pybuda.Tensor, w: pybuda.Tensor) -> tuple[pybuda.Tensor, pybuda.Tensor]:
    return product(x, w), pybuda.op.Softmax("softmax", w, dim=-1)


def test_by_type_only_ops_of_the_type_change() -> None:
    def run(**options: Any) -> list[torch.Tensor]:
        anew(**options, accumulate_df=DataFormat.Float32)
        return [x.value() for x in Function("f", mixed).run(X, W)]

    high, low = (run(default_math_fidelity=f) for f in (MathFidelity.HiFi4, MathFidelity.LoFi))
    assert not torch.equal(high[0], low[0]) and not torch.equal(high[1], low[1])
    pybuda_reset()
    pybuda.configure_mixed_precision(op_type="matmul", math_fidelity=MathFidelity.LoFi)
    pybuda.set_configuration_options(
        default_df_override=DataFormat.Float32, accumulate_df=DataFormat.Float32, math_fidelity=MathFidelity.HiFi4
    )
    got = [x.value() for x in Function("f", mixed).run(X, W)]
    assert torch.equal(got[0], low[0]) and torch.equal(got[1], high[1])


def test_elementwise_products_have_fidelities_where_operands_are_not_f32() -> None:
    def run(fidelity: MathFidelity) -> torch.Tensor:
        pybuda_reset()
        pybuda.set_configuration_options(
            default_df_override=DataFormat.Float16_b, accumulate_df=DataFormat.Float32, math_fidelity=fidelity
        )
        (got,) = Function("f", lambda x: pybuda.op.Multiply("square", x, x)).run(V)
        return got.value().float()

    v = V.bfloat16()
    errors = [error(run(f), v.double().numpy() ** 2) for f in (MathFidelity.LoFi, MathFidelity.HiFi4)]
    assert errors[0] > 3 * errors[1]


@pytest.mark.parametrize("level, bound", [("1", 0.02), ("2", 0.3)])
def test_the_environments_fidelities(monkeypatch: pytest.MonkeyPatch, level: str, bound: float) -> None:
    monkeypatch.setenv("PYBUDA_AMP_LIGHT", level)
    (got,) = Product("product", W, torch.zeros(64)).run(X)
    requested = got.value()
    monkeypatch.delenv("PYBUDA_AMP_LIGHT")
    anew()
    pybuda.configure_mixed_precision(
        name_regex="weights|bias", output_df=DataFormat.Bfp8_b if level == "1" else DataFormat.Bfp4_b
    )
    (plain,) = Product("product", W, torch.zeros(64)).run(X)
    assert not torch.equal(requested, plain.value())  # the same formats, other fidelities
    assert error(requested, exactly(X, W)) < bound


def test_ops_of_pytorch_by_type() -> None:
    model = torch.nn.Linear(256, 64)
    with torch.no_grad():
        model.weight.copy_(W.T)
    expected = exactly(X, W) + model.bias.detach().double().numpy()
    for fidelity in FIDELITIES[:2]:
        anew()
        pybuda.configure_mixed_precision(op_type="matmul", math_fidelity=fidelity)
        (got,) = pybuda.PyTorchModule("linear", model).run(X)
        assert error(got.value(), expected) == pytest.approx({0: 0.0314, 2: 0.0071}[fidelity.value], rel=0.15)


def trained(
    rule: dict[str, Any] | None, steps: int = 1, optimizer: type = pybuda.optimizers.SGD, **options: Any
) -> dict[str, torch.Tensor]:
    """Output, gradient and new weights of a step."""
    anew(**{"accumulate_df": DataFormat.Float32, "math_fidelity": MathFidelity.HiFi4} | options)
    if rule:
        pybuda.configure_mixed_precision(**rule)
    device = pybuda.TTDevice(
        "tt0", module=Product("product", W, torch.zeros(64)),
        optimizer=optimizer(learning_rate=0.25, device_params=True),
    )  # fmt: skip
    device.place_loss_module(pybuda.op.loss.MSELoss("mse"))
    for _ in range(steps):
        device.push_to_inputs(X)
        device.push_to_target_inputs(TARGET)
    pybuda.initialize_pipeline(True)
    loss = device.step_forward([X], [TARGET])[0]
    device._pending.clear()
    pybuda.run_forward(steps)
    pybuda.run_backward(steps, zero_grad=True)
    (gradients,) = pybuda.get_parameter_gradients(device)
    pybuda.run_optimizer(checkpoint=True)
    pybuda.sync()
    weights = device.parameters()["weights"].detach().clone()
    return {"loss": loss, "gradient": gradients["weights"].value(), "weights": weights}


def test_epochs_are_distinguished() -> None:
    """A product of the backward pass alone has another fidelity; the loss before it has the same bits."""
    lo = dict(op_type="matmul", math_fidelity=MathFidelity.LoFi)
    high, low = trained(None), trained(lo)
    backward, forward = trained({**lo, "epoch_type": "bwd"}), trained({**lo, "epoch_type": "fwd"})
    assert torch.equal(backward["loss"], high["loss"]) and torch.equal(forward["loss"], low["loss"])
    assert not torch.equal(backward["loss"], forward["loss"])
    residual = 2 * (exactly(X, W) - TARGET.double().numpy()) / TARGET.numel()
    expected = X.double().numpy().T @ residual
    assert error(high["gradient"], expected) < 0.005
    assert error(backward["gradient"], expected) > 0.015
    # The backward pass reads what the forward pass has made: its fidelity is seen there, too, but is not its own.
    assert error(forward["gradient"], expected) > 0.005
    assert not torch.equal(forward["gradient"], low["gradient"])
    assert not torch.equal(backward["gradient"], forward["gradient"])


def test_gradients_of_parameters_are_distinguished() -> None:
    """Coarsens only the gradient of the weights among the product's two gradients."""
    low, high = (
        trained(dict(op_type="matmul", epoch_type="bwd", is_gradient_op=x, math_fidelity=MathFidelity.LoFi))
        for x in (True, False)
    )
    plain, all_of_them = (
        trained(None),
        trained(dict(op_type="matmul", epoch_type="bwd", math_fidelity=MathFidelity.LoFi)),
    )
    assert torch.equal(low["gradient"], all_of_them["gradient"]) and torch.equal(high["gradient"], plain["gradient"])
    assert not torch.equal(low["gradient"], high["gradient"])


@pytest.mark.long
def test_steps_of_optimizers_have_what_amp_level_says() -> None:
    narrow = dict(epoch_type="opt", accumulate_df=DataFormat.Float16_b)
    adam = pybuda.optimizers.Adam  # its square root is the vector unit's, and sees the width of the registers
    wide, coarse = trained(None, optimizer=adam), trained(narrow, optimizer=adam)
    assert torch.equal(wide["gradient"], coarse["gradient"])
    assert not torch.equal(wide["weights"], coarse["weights"])
    assert torch.allclose(wide["weights"], coarse["weights"], atol=0.01)
    options = dict(optimizer=adam, accumulate_df=DataFormat.Float16_b)
    plain, levelled, ruled = (
        trained(None, **options), trained(None, **options, amp_level=1), trained(narrow, **options, amp_level=1)
    )  # fmt: skip
    assert torch.equal(plain["gradient"], levelled["gradient"])
    assert not torch.equal(plain["weights"], levelled["weights"])
    assert torch.equal(plain["weights"], ruled["weights"])


def test_gradients_add_up_with_an_exact_device() -> None:
    once, twice = trained(None), trained(None, steps=2)
    assert torch.equal(twice["gradient"], 2 * once["gradient"])


def test_the_netlist_says_what_is_computed() -> None:
    anew()
    pybuda.configure_mixed_precision(name_regex="^first$", epoch_type="fwd", math_fidelity=MathFidelity.LoFi)
    pybuda.configure_mixed_precision(name_regex="^second$", epoch_type="bwd", math_fidelity=MathFidelity.LoFi)
    device = pybuda.TTDevice("tt0", module=Function("f", two_products))
    pybuda.initialize_pipeline(False, sample_inputs=(X, W, V))
    assert device.placement is not None
    fidelities = {x.op.name: x.op.fidelity for epoch in device.placement.epochs for x in epoch.placed}
    assert fidelities == {"first": "LoFi", "second": "HiFi3"}


WRONG: list[tuple[Callable[[], Any], str]] = [
    (lambda: pybuda.configure_mixed_precision(op_type="matmul", math_fidelity=MathFidelity.Invalid),
     "math_fidelity is .*Invalid.*; expected one of MathFidelity: LoFi, HiFi2, HiFi3, HiFi4"),
    (lambda: pybuda.configure_mixed_precision(op_type="matmul", math_fidelity="HiFi2"), "math_fidelity is 'HiFi2'"),
    (lambda: pybuda.set_configuration_options(math_fidelity=MathFidelity.Invalid),
     "option default_math_fidelity is .*Invalid.*; expected one of MathFidelity"),
    (lambda: pybuda.configure_mixed_precision(op_type="matmul", accumulate_df=DataFormat.Int32), "accumulate_df is"),
]  # fmt: skip


@pytest.mark.parametrize("call, text", WRONG)
def test_wrong_use(call: Callable[[], Any], text: str) -> None:
    with pytest.raises((OptionError, pybuda.FormatError), match=text):
        call()
    assert not pybuda.config._get_global_compiler_config().amp_properties


def test_images_keep_the_arithmetic(tmp_path: Path) -> None:
    """Keeps the fidelity of an image's program, whatever the options of the process that loads it."""
    expected: dict[str, torch.Tensor] = {}
    for name, fidelity in {"low": MathFidelity.LoFi, "high": MathFidelity.HiFi4, "plain": None}.items():
        anew(**({} if fidelity is None else {"math_fidelity": fidelity}))
        (got,) = Product("product", W, torch.zeros(64)).run(X)
        expected[name] = got.value()
        anew(**({} if fidelity is None else {"math_fidelity": fidelity}))
        device = pybuda.TTDevice(name, module=Product("product", W, torch.zeros(64)))
        device.compile_to_image(img_path=tmp_path / f"{name}.tti", sample_inputs=(X,))
    assert len({tuple(x.flatten().tolist()) for x in expected.values()}) == 3
    merge_models(str(tmp_path), list(expected), merged_model_location=str(tmp_path / "all.tti"))
    for name, value in expected.items():
        with zipfile.ZipFile(tmp_path / f"{name}.tti") as archive:
            assert json.loads(archive.read("device.json"))["exact"] is (name != "plain")
        for path, model in ((tmp_path / f"{name}.tti", None), (tmp_path / "all.tti", name)):
            pybuda_reset()
            device = pybuda.TTDevice.load_image(img=TTDeviceImage.load_from_disk(path, model=model))
            device.push_to_inputs(X)
            (got,) = read(pybuda.run_inference())
            assert torch.equal(got, value)
