# SPDX-License-Identifier: Apache-2.0
"""Errors of wrong use name the subject and the expected value."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

import pybuda
import pytest
import torch
from modules import Function, Product
from pybuda import config

X = torch.ones(2, 4)


def product(name: str = "product") -> Product:
    return Product(name, torch.ones(4, 3), torch.zeros(3))


def placed() -> pybuda.TTDevice:
    return pybuda.TTDevice("tt0", module=product())


def compiled() -> pybuda.TTDevice:
    device = placed()
    pybuda.initialize_pipeline(False, sample_inputs=(X,))
    return device


def in_order() -> None:
    pybuda.TTDevice("tt0", module=product()).place_loss_module(pybuda.op.loss.L1Loss("loss"))
    pybuda.CPUDevice("cpu1", module=pybuda.PyTorchModule("relu", torch.nn.ReLU()))
    pybuda.initialize_pipeline(True, sample_inputs=(X,))


def without_fallback() -> None:
    config._get_global_compiler_config().enable_tvm_cpu_fallback = False

    class Exponential(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.linalg.matrix_exp(x)

    pybuda.PyTorchModule("exponential", Exponential()).run(torch.eye(4))


# (what is done, what the error says)
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "no device": (lambda: pybuda.run_inference(), "there are no devices; make a TTDevice"),
    "no module": (
        lambda: (pybuda.TTDevice("tt0").push_to_inputs(X), pybuda.run_inference()),
        "device 'tt0' has no module; place one",
    ),
    "no inputs": (lambda: (placed(), pybuda.run_inference()), "no inputs were pushed to device 'tt0'"),
    "no pipeline": (lambda: pybuda.run_forward(), "there is no pipeline; call initialize_pipeline"),
    "no loss": (
        lambda: (placed(), pybuda.initialize_pipeline(True, sample_inputs=(X,))),
        "training needs a loss module on the last device, 'tt0'",
    ),
    "loss in the middle": (in_order, "device 'tt0' has a loss module and is not the last one, 'cpu1' is"),
    "no targets": (
        lambda: (
            placed().place_loss_module(pybuda.op.loss.L1Loss("loss")),
            pybuda.initialize_pipeline(True, sample_inputs=(X,)),
        ),
        "device 'tt0' has a loss module and no targets",
    ),
    "backward in inference": (
        lambda: (compiled(), pybuda.run_backward()), "run_backward in a pipeline for inference",
    ),
    "optimizer in inference": (
        lambda: (compiled(), pybuda.run_optimizer()), "run_optimizer in a pipeline for inference",
    ),
    "other shape": (
        lambda: compiled().push_to_inputs(torch.ones(3, 4)),
        "device 'tt0' gets inputs [[3, 4]]; it is compiled for [[2, 4]]",
    ),
    "no tensor": (lambda: placed().push_to_inputs("x"), "an input of device 'tt0' is str; expected a tensor"),
    "nothing": (lambda: placed().push_to_inputs(), "nothing is pushed to device 'tt0'"),
    "name of an input": (
        lambda: placed().push_to_inputs({"y": X}), "module 'product' has no input 'y'; it has x",
    ),
    "twice the name": (lambda: (placed(), pybuda.TTDevice("tt0")), "there is a device named 'tt0' already"),
    "placed twice": (
        lambda: (module := product(), pybuda.TTDevice("a", module=module), pybuda.TTDevice("b", module=module)),
        "module 'product' is placed on device 'a' already",
    ),
    "torch module": (
        lambda: pybuda.TTDevice("tt0", module=torch.nn.ReLU()), "ReLU is no module of PyBuda; a torch.nn.Module goes",
    ),
    "pybuda module on a CPU": (
        lambda: pybuda.CPUDevice("cpu0", module=product()), "CPU device 'cpu0' runs modules of PyTorch; 'product' is a",
    ),
    "GPU": (lambda: pybuda.GPUDevice("gpu0"), "GPUDevice 'gpu0': this machine has no GPU"),
    "direct and placed": (
        lambda: (placed(), product("other").run(X)), "module 'other' is run directly, and there are devices",
    ),
    "count": (lambda: pybuda.run_inference(input_count=-1), "input_count is -1; expected 0 or more"),
    "steps": (lambda: pybuda.run_training(steps=0), "steps is 0; expected 1 or more"),
    "chips": (lambda: pybuda.TTDevice("tt0", num_chips=99), "TTDevice 'tt0': num_chips is 99; there are"),
    "chip ids": (lambda: pybuda.TTDevice("tt0", chip_ids=[0, 0]), "chip_ids is [0, 0]; expected different chips"),
    "both": (lambda: pybuda.TTDevice("tt0", num_chips=1, chip_ids=[0]), "gets num_chips and chip_ids"),
    "optimizer": (
        lambda: pybuda.TTDevice("tt0", optimizer=torch.optim.SGD), "optimizer is type; expected one of",
    ),
    "learning rate": (lambda: pybuda.optimizers.SGD(learning_rate=-1), "SGD: learning_rate is -1; expected 0 or more"),
    "beta": (lambda: pybuda.optimizers.Adam(beta1=1.0), "Adam: beta1 is 1.0; expected 0 or more, below 1"),
    "parameter": (
        lambda: product().set_parameter("weight", X), "has no parameter 'weight'; it has weights, bias",
    ),
    "parameter's shape": (
        lambda: product().set_parameter("bias", X), "parameter 'bias' has shape [3]; given: [2, 4]",
    ),
    "integers": (
        lambda: pybuda.Parameter(torch.ones(2, dtype=torch.int32), name="p"), "parameter 'p' has integers",
    ),
    "checkpoint": (
        lambda: pybuda.update_device_parameters(compiled(), [{"w": X}]), "device 'tt0' has no parameter 'w'",
    ),
    "checkpoints": (
        lambda: pybuda.update_device_parameters(compiled(), []), "gets 0 dictionaries for 1 devices",
    ),
    "intermediate": (
        lambda: (
            pybuda.set_configuration_options(op_intermediates_to_save=["mul"]), product().run(X),
        ),
        "op_intermediates_to_save has 'mul'; ops of device 'product_device': matmul, add",
    ),
    "nop": (
        lambda: (pybuda.insert_nop("matmul", ["mul"]), product().run(X)),
        "insert_nop('matmul', ['mul']): none of these ops reads 'matmul'; ops with names: matmul, add",
    ),
    "no fallback": (without_fallback, "the chip has no op for aten.linalg_matrix_exp"),
    "option": (lambda: pybuda.set_configuration_options(amp=1), "set_configuration_options has no option 'amp'"),
    "option's type": (
        lambda: pybuda.set_configuration_options(enable_auto_fusing="no"),
        "option enable_auto_fusing is 'no'; expected True or False",
    ),
    "option's value": (lambda: pybuda.set_configuration_options(amp_level=7), "option amp_level is 7; expected"),
    "harvested": (
        lambda: pybuda.set_configuration_options(harvested_rows=[6]), "only rows 1 to 5 and 7 to 11 are harvestable",
    ),
    "attribute": (
        lambda: setattr(config._get_global_compiler_config(), "no_such", 1), "has no option 'no_such'",
    ),
    "size": (lambda: config.override_op_size("op", (0, 2)), "the grid size of op 'op' is (0, 2)"),
    "stream": (lambda: config.override_t_stream_dir("op", "X"), "the streaming direction of op 'op' is 'X'"),
    "u_kt": (lambda: config.override_u_kt("op", 0), "u_kt of op 'op' is 0; expected 1 or more"),
    "break": (lambda: config.set_epoch_break([]), "set_epoch_break: op names are []"),
    "pattern": (lambda: config.configure_mixed_precision(name_regex="("), "name_regex '(' is no pattern"),
    "pattern of another type": (lambda: config.configure_mixed_precision(name_regex=3), "name_regex 3 is no pattern"),
    "a format as text": (
        lambda: config.configure_mixed_precision(op_type="matmul", output_df="Lf8"),
        "output_df is 'Lf8', which is no DataFormat; expected a format of the chip: Float32",
    ),
    "formats in a list": (
        lambda: config.configure_mixed_precision(op_type="matmul", input_df=[pybuda.DataFormat.Lf8]),
        "], which is no DataFormat; expected a format of the chip",
    ),
    "precision of nothing": (lambda: config.configure_mixed_precision(), "configure_mixed_precision names no ops"),
    "no forward": (lambda: pybuda.PyBudaModule("empty").run(X), "module 'empty' (PyBudaModule) has no forward"),
    "inputs of forward": (lambda: product().run(X, X), "module 'product' gets 2 inputs: too many positional"),
    "no super": (
        lambda: type("M", (pybuda.PyBudaModule,), {"__init__": lambda m: setattr(m, "w", pybuda.Parameter(X))})(),
        "M.w is set before super().__init__(name) is called",
    ),
    "framework": (lambda: pybuda.Tensor(X).to_framework("caffe"), "to_framework('caffe'); known: pybuda, pytorch"),
}  # fmt: skip


# A value of another type -> what the error says; each is a PyBudaError.
TYPES: dict[str, tuple[Callable[[], object], str]] = {
    "a number for a size": (
        lambda: config.override_op_size("matmul", 3),
        "the grid size of op 'matmul' is 3; expected (rows, columns), 1 at least",
    ),
    "a truth for a size": (lambda: config.override_op_size("op", (True, 2)), "the grid size of op 'op' is (True, 2)"),
    "a number for a shape": (
        lambda: config.override_t_stream_shape("op", 3), "the streaming shape of op 'op' is 3; expected (rows,",
    ),
    "a number for a place": (
        lambda: config.override_op_placement("op", start=3), "the start of op 'op' is 3; expected (row, column)",
    ),
    "a chip below zero": (
        lambda: config.override_op_placement("op", chip_id=-1), "the chip of op 'op' is -1; expected 0 or more",
    ),
    "a name that is none": (lambda: config.override_u_kt(5, 1), "an override's op name is 5; expected text"),
    "a truth for a number": (lambda: config.override_u_kt("op", True), "u_kt of op 'op' is True; expected 1 or more"),
    "an operand below zero": (
        lambda: config.override_input_buffer_multiplier("op", -1, 2),
        "the operand index of op 'op' is -1; expected 0 or more",
    ),
    "a word for an operand": (
        lambda: config.override_input_buffer_multiplier("op", "0", 2), "the operand index of op 'op' is '0'; expected",
    ),
    "a chip of a queue": (
        lambda: config.override_dram_queue_placement("q", chip_id="a"), "the chip of queue 'q' is 'a'; expected 0",
    ),
    "a number for names": (
        lambda: config.set_epoch_break(3), "set_epoch_break: op names are 3; expected text, or a list of it",
    ),
    "a number for chips' names": (lambda: config.set_chip_break(3), "set_chip_break: op names are 3; expected text"),
    "a number for a group": (
        lambda: config.insert_fracture_group(3), "insert_fracture_group gets 3; expected a list of (op, dimension",
    ),
    "a word for a group": (lambda: config.insert_fracture_group("op"), "insert_fracture_group gets 'op'; expected"),
    "words for nodes": (lambda: config.insert_fracture_group(["op"]), "insert_fracture_group gets ['op']; expected"),
    "a number for chips": (
        lambda: config.insert_fracture_group([("op", -1, 2)], 3), "chip_ids is 3; expected a list of chips",
    ),
    "a number for rows": (
        lambda: pybuda.set_configuration_options(harvested_rows=5), "option harvested_rows is 5; expected a list",
    ),
    "rows in rows": (
        lambda: pybuda.set_configuration_options(harvested_rows=[[1]]), "option harvested_rows has [1]; only rows 1 to",
    ),
    "a number for a folder": (
        lambda: pybuda.set_configuration_options(backend_output_dir=5), "option backend_output_dir is 5; expected text",
    ),
    "a word for a list": (
        lambda: pybuda.set_configuration_options(op_intermediates_to_save="matmul"),
        "option op_intermediates_to_save is 'matmul'; expected a list",
    ),
    "numbers for names": (
        lambda: pybuda.set_configuration_options(op_intermediates_to_save=[1]),
        "option op_intermediates_to_save has 1; expected names of ops",
    ),
    "a list for a dictionary": (
        lambda: setattr(config._get_global_compiler_config(), "loopback_outputs", ["x"]),
        "option loopback_outputs is ['x']; expected a dictionary",
    ),
    "a word for a depth": (
        lambda: setattr(config._get_global_compiler_config(), "tm_cpu_fallback_max_depth", "deep"),
        "option tm_cpu_fallback_max_depth is 'deep'; expected a whole number",
    ),
    "a word for a value": (
        lambda: setattr(config._get_global_compiler_config(), "max_pool_add_sub_surround_value", "1"),
        "option max_pool_add_sub_surround_value is '1'; expected a number",
    ),
    "a word for where parameters are": (
        lambda: setattr(config._get_global_compiler_config(), "default_dram_parameters", "yes"),
        "option default_dram_parameters is 'yes'; expected True, False or None",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_wrong_types(name: str) -> None:
    action, text = TYPES[name]
    with pytest.raises(pybuda.PyBudaError, match=re.escape(text)):
        action()


@pytest.mark.parametrize("name", WRONG)
def test_wrong_use(name: str) -> None:
    action, text = WRONG[name]
    with pytest.raises((pybuda.PyBudaError, TypeError, ValueError, AttributeError, NotImplementedError)) as caught:
        action()
    assert re.search(re.escape(text), str(caught.value)), caught.value


def test_a_run_that_fails_is_told_to_who_waits() -> None:
    class Failing(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            if bool((x > 1).any()):
                raise ValueError("more than 1")
            return x

    device = pybuda.CPUDevice("cpu0", module=pybuda.PyTorchModule("failing", Failing()))
    results = pybuda.initialize_pipeline(False, sample_inputs=(X,))
    said: list[str] = []

    def wait() -> None:
        try:
            results.get()
        except pybuda.PyBudaError as error:
            said.append(str(error))

    waiting = threading.Thread(target=wait)
    waiting.start()
    device.push_to_inputs(X + 1)
    pybuda.run_forward()
    waiting.join(timeout=1200)
    assert said == ["the run has failed: more than 1"] and pybuda.error_raised()
    with pytest.raises(pybuda.PyBudaError, match="the run has failed: more than 1"):
        pybuda.run_forward()


def test_backward_without_forward() -> None:
    device = placed()
    device.place_loss_module(pybuda.op.loss.L1Loss("loss"))
    pybuda.initialize_pipeline(True, sample_inputs=(X,), sample_targets=(torch.ones(2, 3),))
    pybuda.run_backward()
    with pytest.raises(pybuda.PyBudaError, match="device 'tt0' has no forward pass left"):
        pybuda.sync()


def test_tensorflow_is_named_where_it_is_missing() -> None:
    with pytest.raises(ModuleNotFoundError, match="TFModule 'm' needs tensorflow, which is not installed"):
        pybuda.TFModule("m", Function("f", lambda x: x))
