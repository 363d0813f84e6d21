# SPDX-License-Identifier: Apache-2.0
"""`pybuda.verify`, `pybuda_compile` and the options that programs set on a CompilerConfig."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pybuda
import pytest
import torch
from modules import Function, Product
from pybuda import op
from pybuda.config import _get_global_compiler_config
from pybuda.enums import DeviceMode
from pybuda.errors import OptionError, VerificationError
from pybuda.op.eval import calculate_pcc, compare_tensor_to_golden
from pybuda.verify import TestKind, VerifyConfig, verify_module, verify_module_pipeline


def product(name: str = "product") -> Product:
    torch.manual_seed(0)
    return Product(name, torch.rand(32, 16) - 0.5, torch.rand(16))


class Network(torch.nn.Module):
    """Two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = torch.nn.Linear(32, 16), torch.nn.Linear(16, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.second(torch.relu(self.first(x)))


@pytest.mark.parametrize("devtype", list(pybuda.enums.BackendType))
def test_inference(devtype: Any) -> None:
    (device,) = verify_module(product(), [(1, 8, 32)], VerifyConfig(devtype=devtype, microbatch_count=2))
    assert device.modules[0].get_name() == "product"


@pytest.mark.parametrize("arch", list(pybuda.BackendDevice))
def test_architectures(arch: Any) -> None:
    (device,) = verify_module(product(), [(64, 32)], VerifyConfig(arch=arch))
    assert isinstance(device, pybuda.TTDevice)
    assert f"arch: {arch.name.lower()}" in Path(device.netlist_filename).read_text(encoding="utf-8")


def test_a_pipeline_of_modules_and_devices() -> None:
    modules = [product("a"), Function("b", lambda x: op.Relu("relu", x)), pybuda.PyTorchModule("c", torch.nn.Tanh())]
    devices = verify_module_pipeline(modules, [(4, 32)], VerifyConfig(), device_types=["TTDevice", "-", "CPUDevice"])
    assert [[m.get_name() for m in device.modules] for device in devices] == [["a", "b"], ["c"]]


def test_given_inputs_and_integers() -> None:
    table = pybuda.PyTorchModule("table", torch.nn.Embedding(25000, 4))
    verify_module(table, [(1, 3)], VerifyConfig(), input_params=[{"data_format": torch.int32}])
    pybuda.pybuda_reset()
    verify_module(product(), [], VerifyConfig(), inputs=[(torch.ones(2, 32),)])


def test_a_wrong_result_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    # A comparison that holds for no result stands for a chip that computes something else.
    config = VerifyConfig(golden_compare_callback=lambda golden, found: False, pcc=1.1)
    with pytest.raises(VerificationError, match="1 of the values differ from PyTorch's: output 0 of input 0"):
        verify_module(product(), [(4, 32)], config)
    pybuda.pybuda_reset()
    config.enabled = False
    verify_module(product(), [(4, 32)], config)
    pybuda.pybuda_reset()
    original = pybuda.device.Device.evaluate
    monkeypatch.setattr(pybuda.device.Device, "evaluate", lambda *args: [-x for x in original(*args)])
    with pytest.raises(AssertionError, match="output 0 of input 0"):
        verify_module(product(), [(4, 32)], VerifyConfig())


OPTIMIZERS = [
    {"type": "sgd", "params": {"learning_rate": 0.1}}, {"type": "adam", "params": {"learning_rate": 0.01}},
    {"type": "adamw", "params": {"learning_rate": 0.01, "weight_decay": 0.1}}, {"type": "lamb", "params": {}},
    {"type": "lars", "params": {"learning_rate": 0.1}}, None,
]  # fmt: skip


@pytest.mark.parametrize("optimizer", OPTIMIZERS, ids=lambda o: o["type"] if o else "none")
@pytest.mark.parametrize("module", [product, lambda: pybuda.PyTorchModule("network", Network())], ids=["own", "torch"])
def test_training(optimizer: Any, module: Any) -> None:
    config = VerifyConfig(
        test_kind=TestKind.TRAINING, optimizer=optimizer, steps=2, accumulation_steps=2, scale_loss=1.0,
        fp32_fallback=pybuda.DataFormat.Float32,
    )  # fmt: skip
    verify_module(module(), [(4, 32)], config, inputs_centered_on_zero=True)


def test_training_with_a_loss_of_its_own_and_recompute() -> None:
    config = VerifyConfig(test_kind=TestKind.TRAINING_RECOMPUTE, epochs=2)
    config.optimizer = {"type": "sgd", "params": {"learning_rate": 0.1}}
    loss = op.loss.L1Loss("l1")
    verify_module(product(), [(4, 32)], config, loss_module=loss, inputs_centered_on_zero=True)
    assert _get_global_compiler_config().enable_recompute


def test_a_wrong_gradient_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = VerifyConfig(test_kind=TestKind.TRAINING, optimizer=None, scale_loss=1.0)
    original = pybuda.TTDevice.gradients
    monkeypatch.setattr(pybuda.TTDevice, "gradients", lambda self: {n: -x for n, x in original(self).items()})
    with pytest.raises(VerificationError, match=r"epoch 0, step 0: gradient of (weights|bias)"):
        verify_module(product(), [(4, 32)], config, inputs_centered_on_zero=True)
    pybuda.pybuda_reset()
    config.waive_gradient_errors = {"weights", "bias"}
    verify_module(product(), [(4, 32)], config, inputs_centered_on_zero=True)


def test_compiling_only_and_images(tmp_path: Path) -> None:
    path = str(tmp_path / "image.tti")
    config = VerifyConfig(devmode=DeviceMode.CompileOnly, tti_path=path)
    verify_module(product(), [(4, 32)], config)
    assert Path(path).exists()
    pybuda.pybuda_reset()
    verify_module(product(), [(4, 32)], VerifyConfig(devmode=DeviceMode.RunOnly, tti_path=path))
    pybuda.pybuda_reset()
    _get_global_compiler_config().compile_depth = pybuda.CompileDepth.BALANCER_PASS
    (device,) = verify_module(product(), [(4, 32)], VerifyConfig())
    assert device.netlist_filename.endswith("product_netlist.yaml")


def test_pybuda_compile() -> None:
    module = product()
    device = pybuda.TTDevice("tt0", module=module)
    config = pybuda.CompilerConfig(enable_auto_fusing=False)
    x = pybuda.Tensor.create_from_torch(torch.ones(4, 32))
    results = pybuda.pybuda_compile(device, "graph", x, compiler_cfg=config, verify_cfg=VerifyConfig())
    assert Path(results.netlist_filename).exists()
    assert set(results.initial_graph) >= {"matmul", "add"}
    expected = torch.ones(4, 32) @ module.weights.value() + module.bias.value()
    torch.testing.assert_close(results.golden_outputs[0], expected.detach())
    torch.testing.assert_close(results.outputs[0].value().float(), expected.detach(), rtol=0.05, atol=0.05)
    assert _get_global_compiler_config().enable_auto_fusing


# (the reference, the result, keywords, whether it is near)
COMPARED = [
    ([1.0, 2.0], [1.0, 2.0], {}, True), ([1.0, 2.0], [1.1, 2.1], {}, True), ([1.0, 2.0], [2.0, 1.0], {}, False),
    ([1.0, 2.0], [2.0, 1.0], {"warning_only": True}, True), ([1.0, 2.0], [2.0, 4.0], {"pcc": 0.99}, True),
    ([1.0, 2.0], [1.1, 2.1], {"atol": 0.01}, False), ([1.0, 2.0], [1.1, 2.1], {"atol": {torch.float32: 0.2}}, True),
    ([100.0, 200.0], [101.0, 202.0], {"atol": 0, "rtol": 0.02}, True), ([math.nan], [math.nan], {}, True),
    ([math.nan, 1.0], [1.0, 1.0], {}, False), ([math.inf], [math.inf], {}, True), ([0.0, 0.0], [0.0, 1e-3], {}, False),
    ([1.0, 2.0], [1.0, 2.0, 3.0], {}, False), ([1.0, 2.0], [1.0, 2.0, 3.0], {"is_buda": True}, True),
    ([[1.0, 2.0]], [1.0, 2.0], {}, True), ([True, False], [1.0, 0.0], {}, True), ([True, False], [1.0, 1.0], {}, False),
    ([1.0, 2.0], [1.0, 2.2], {"relative_atol": 0.01}, False), ([], [], {}, True),
    ([1.0, 2.0], [1.0, 2.0], {"verify_cfg": VerifyConfig(golden_compare_callback=lambda a, b: False, pcc=2.0)}, False),
]  # fmt: skip


@pytest.mark.parametrize("case", COMPARED, ids=range(len(COMPARED)))
def test_comparison(case: Any) -> None:
    golden, found, keywords, is_near = case
    assert compare_tensor_to_golden("x", torch.tensor(golden), torch.tensor(found), **keywords) is is_near


def test_correlation() -> None:
    x = torch.linspace(0, 1, 50)
    assert calculate_pcc(x, 3 * x + 1) == pytest.approx(1)
    assert calculate_pcc(x, -x) == pytest.approx(-1)


def test_options_of_a_configuration() -> None:
    config = _get_global_compiler_config()
    config.balancer_op_override("matmul", "grid_shape", (2, 1))
    config.balancer_op_override("matmul", "t_stream_dir", "c")
    config.balancer_op_override("matmul", "input_buffer_multiplier", {0: 2})
    assert config.op_overrides["matmul"] == {"grid_shape": (2, 1), "t_stream_dir": "C", "input_buffer_0": 2}
    config.conv_multi_op_fracture_factor_override["conv"] = 3
    assert config.op_overrides["conv"] == {"fracture_factor": 3}
    config.conv_multi_op_fracture_factor_override = {"other": 2}
    assert dict(config.conv_multi_op_fracture_factor_override) == {"other": 2}
    config.harvesting_mask = 0b110
    assert config.harvested_rows == [1, 2]
    assert config.harvesting_mask == 0b110
    config.enable_amp_light(1)
    assert [str(rule.output_df) for rule in config.amp_properties] == ["DataFormat.Bfp8_b", "None"]
    config.manual_fuse(["a", "b"])
    assert config.op_names_manual_fuse == ["a", "b"]


# (what is called, what the error says)
WRONG: dict[str, tuple[Any, str]] = {
    "attribute": (
        lambda c: c.balancer_op_override("m", "grid", 1),
        "an override of op 'm' sets 'grid'; known: grid_shape",
    ),
    "grid": (lambda c: c.balancer_op_override("m", "grid_shape", 1), "the grid size of op 'm' is 1; expected"),
    "factor": (lambda c: c.conv_multi_op_fracture_factor_override.update(m=0), "the fracture factor of op 'm' is 0"),
    "buffers": (
        lambda c: c.balancer_op_override("m", "input_buffer_multiplier", 2),
        "the buffer multipliers of op 'm' are 2",
    ),
    "level": (lambda c: c.enable_amp_light(4), "enable_amp_light: level is 4; expected one of 0, 1, 2"),
    "mask": (lambda c: setattr(c, "harvesting_mask", -1), "harvesting_mask is -1; expected 0 or more"),
    "depth": (lambda c: setattr(c, "compile_depth", 3), "option compile_depth is 3; expected one of CompileDepth"),
    "kind": (lambda c: VerifyConfig(test_kind="training"), "VerifyConfig: test_kind is 'training'; expected one of"),
    "steps": (lambda c: VerifyConfig(steps=0), "VerifyConfig: steps is 0; expected 1 or more"),
    "rtol": (lambda c: VerifyConfig(rtol="no"), "VerifyConfig: rtol is 'no'; expected a number"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_options(name: str) -> None:
    call, text = WRONG[name]
    with pytest.raises(OptionError) as error:
        call(_get_global_compiler_config())
    assert text in str(error.value)


def test_wrong_calls() -> None:
    with pytest.raises(pybuda.PyBudaError, match="device type 0 is 'NPU'; expected TTDevice"):
        verify_module(product(), [(4, 32)], VerifyConfig(), device_type="NPU")
    with pytest.raises(pybuda.PyBudaError, match="inputs has 0 sets; expected 1"):
        verify_module(product(), [(4, 32)], VerifyConfig(), inputs=[])
    with pytest.raises(pybuda.PyBudaError, match="verify_cfg is NoneType; expected a VerifyConfig"):
        verify_module(product(), [(4, 32)], None)  # type: ignore[arg-type]
    with pytest.raises(pybuda.PyBudaError, match=r"input_shapes is \[4, 32\]; expected a shape for each input"):
        verify_module(product(), [4, 32], VerifyConfig())  # type: ignore[list-item]
    about = [{"data_format": pybuda.DataFormat.Float32}]
    with pytest.raises(pybuda.PyBudaError, match=r"data_format DataFormat\.Float32; expected a type of PyTorch"):
        verify_module(product(), [(4, 32)], VerifyConfig(), input_params=about)
    with pytest.raises(TypeError, match="pybuda_compile gets Product; expected a TTDevice"):
        pybuda.pybuda_compile(product(), "graph", torch.ones(4, 32))  # type: ignore[arg-type]
    for wrong, text in (({"params": {}}, "type is ''"), ({"type": "sgd", "params": {"lr": 1}}, "argument 'lr'")):
        pybuda.pybuda_reset()
        with pytest.raises(pybuda.PyBudaError, match=text):
            verify_module(product(), [(4, 32)], VerifyConfig(test_kind=TestKind.TRAINING, optimizer=wrong))
    pybuda.pybuda_reset()
    with pytest.raises(pybuda.PyBudaError, match="an optimizer's type is 'rprop'; expected one of sgd, adam"):
        verify_module(
            product(), [(4, 32)], VerifyConfig(test_kind=TestKind.TRAINING, optimizer={"type": "rprop", "params": {}})
        )


def test_variables_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    config = _get_global_compiler_config()
    monkeypatch.setenv("PYBUDA_DISABLE_OP_FUSING", "1")
    monkeypatch.setenv("PYBUDA_DEFAULT_DF", "Bfp8_b")
    monkeypatch.setenv("PYBUDA_COMPILE_DEPTH", "generate_netlist")
    config.apply_env_config_overrides()
    assert config.enable_auto_fusing is False
    assert config.default_df_override is pybuda.DataFormat.Bfp8_b
    assert config.compile_depth is pybuda.CompileDepth.GENERATE_NETLIST
    monkeypatch.setenv("PYBUDA_PRESTRIDE_DISABLE", "yes")
    with pytest.raises(OptionError, match="PYBUDA_PRESTRIDE_DISABLE=yes; expected one of 1, 0"):
        config.apply_env_config_overrides()


def test_parameters_created_from_sizes_are_drawn() -> None:
    module = product()
    module.random = pybuda.Parameter(4, 4)
    before = module.random.value().detach().clone()
    pybuda.verify.backend.draw_parameters([module], True, 10.0)
    assert not torch.equal(module.random.value(), before)
    assert module.random.value().abs().max() <= 0.05
    assert not module.weights.is_random
    with pytest.raises(pybuda.PyBudaError, match="scale_params is 0; expected more than 0"):
        pybuda.verify.backend.draw_parameters([module], False, 0)


def test_a_pipeline_in_another_order() -> None:
    first, second = (pybuda.TTDevice(name, module=product(name)) for name in ("a", "b"))
    pybuda.set_device_pipeline([second, first])
    assert [device.name for device in pybuda.pybudaglobal.get_devices()] == ["b", "a"]
    assert pybuda.get_tenstorrent_device() is second
    with pytest.raises(pybuda.PyBudaError, match="set_device_pipeline gets int; expected devices"):
        pybuda.set_device_pipeline([3])  # type: ignore[list-item]


def test_torch_compile() -> None:
    model, x = Network().eval(), torch.rand(4, 32)
    pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32)
    with torch.no_grad():
        torch.testing.assert_close(
            torch.compile(model, backend=pybuda.compile_torch)(x), model(x), rtol=1e-4, atol=1e-5
        )


def test_names_of_compiled_parts() -> None:
    assert pybuda._C.Float16_b is pybuda.DataFormat.Float16_b
    assert pybuda._C.backend_api.detect_available_silicon_devices() == pybuda.run.api.detect_available_devices()
    tensors = pybuda.tensor.to_buda_tensors([torch.rand(2, 3), pybuda.Tensor(torch.rand(2, 3))])
    assert [x.shape for x in pybuda.tensor.to_pt_tensors(tensors)] == [(2, 3), (2, 3)]
    assert [x.shape for x in pybuda.tensor.remove_microbatch(tensors)] == [(1, 3), (1, 3)]
