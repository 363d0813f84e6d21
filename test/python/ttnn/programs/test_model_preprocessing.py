# SPDX-License-Identifier: Apache-2.0
"""Parameters of PyTorch's modules as tensors of TTNN."""

from __future__ import annotations

from typing import Any

import pytest
import torch
import ttnn
from ttnn.model_preprocessing import (
    Conv2dArgs,
    MaxPool2dArgs,
    ParameterList,
    convert_torch_model_to_ttnn_model,
    fold_batch_norm2d_into_conv2d,
    infer_ttnn_module_args,
    make_parameter_dict,
    preprocess_model,
    preprocess_model_parameters,
    preprocess_remaining_children_and_parameters,
)


class Model(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(7, 32)
        self.layers = torch.nn.ModuleList([torch.nn.Linear(32, 64), torch.nn.Linear(64, 32, bias=False)])
        self.body = torch.nn.Sequential(torch.nn.LayerNorm(32), torch.nn.Conv2d(3, 8, 3, padding=1))
        self.scale = torch.nn.Parameter(torch.rand(1, 3))


def test_the_tree_has_the_names_of_the_module(device: ttnn.Device) -> None:
    model = Model()
    parameters = preprocess_model_parameters(initialize_model=lambda: model, device=device)
    assert list(parameters) == ["scale", "table", "layers", "body"] and isinstance(parameters.layers, ParameterList)
    weight = parameters.layers[0].weight
    assert (weight.shape, weight.layout, weight.dtype) == ((32, 64), ttnn.TILE_LAYOUT, ttnn.bfloat16)
    assert weight.device() is device and "bias" not in parameters.layers[1]
    torch.testing.assert_close(ttnn.to_torch(weight), model.layers[0].weight.detach().T.bfloat16())
    assert parameters.table.weight.layout == ttnn.ROW_MAJOR_LAYOUT
    assert parameters.body[0].bias.shape == (1, 32) and parameters.body[1].weight.shape == (8, 3, 3, 3)
    torch.testing.assert_close(ttnn.to_torch(parameters.scale), model.scale.detach().bfloat16())
    assert "layers: [\n    {\n      weight: ttnn.Tensor(shape=Shape([32, 64])" in repr(parameters)
    with pytest.raises(AttributeError, match="no parameter 'tabel'; there is scale, table, layers, body"):
        _ = parameters.tabel
    with pytest.raises(RuntimeError, match="initialize_model is None; expected a function that returns a module"):
        preprocess_model_parameters()


def test_custom_preprocessors_and_modules_that_stay() -> None:
    model, names = Model(), []

    def custom(module: torch.nn.Module, name: str, ttnn_module_args: Any, convert_to_ttnn: Any) -> dict[str, Any]:
        names.append(name)
        if isinstance(module, torch.nn.Conv2d):
            return {"kernel": {"size": ttnn_module_args.kernel_size, "rows": ttnn_module_args.input_height}}
        if isinstance(module, Model):
            result: dict[str, Any] = {"scale": "kept"}
            return preprocess_remaining_children_and_parameters(
                module, name, convert_to_ttnn, custom, result, ttnn_module_args, already_preprocessed_children={"scale"}
            )
        return {}

    parameters = preprocess_model(
        initialize_model=lambda: model,
        convert_to_ttnn=lambda module, name: not name.startswith("m.layers"),
        custom_preprocessor=custom,
        prefix="m",
        run_model=lambda model: model.body[1](torch.rand(2, 3, 8, 16)),
    )
    assert parameters.scale == "kept" and parameters.body[1].kernel == {"size": (3, 3), "rows": 8}
    assert names[0] == "m" and "m.layers.1" in names and "m.body.0" in names
    torch.testing.assert_close(parameters.layers[0].weight, model.layers[0].weight.T)
    with pytest.raises(RuntimeError, match=r"has the parameters \(module\); expected the module, its name"):
        convert_torch_model_to_ttnn_model(
            model, name="", convert_to_ttnn=lambda module, name: True, custom_preprocessor=lambda module: {}
        )


def test_arguments_of_windows() -> None:
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3, stride=2), torch.nn.Sequential(torch.nn.MaxPool2d(2)))
    found = infer_ttnn_module_args(model=model, run_model=lambda model: model(torch.rand(2, 3, 9, 11)), device=None)
    assert isinstance(found["0"], Conv2dArgs) and isinstance(found["1"]["0"], MaxPool2dArgs)
    first, second = found["0"], found["1"]["0"]
    assert (first.in_channels, first.stride, first.batch_size, first.input_width) == (3, (2, 2), 2, 11)
    assert (second.kernel_size, second.input_height, second.input_width) == (2, 4, 5)
    assert infer_ttnn_module_args(model=model, run_model=None, device=None) is None
    with pytest.raises(AttributeError, match="no argument 'width'; there is in_channels, "):
        _ = first.width


@pytest.mark.parametrize("bias", [True, False])
def test_folded_norms(bias: bool) -> None:
    conv, norm = torch.nn.Conv2d(3, 8, 3, bias=bias), torch.nn.BatchNorm2d(8).eval()
    for values in (norm.weight, norm.bias, norm.running_mean):
        torch.nn.init.normal_(values)
    x = torch.rand(2, 3, 9, 9)
    weight, shift = fold_batch_norm2d_into_conv2d(conv, norm)
    torch.testing.assert_close(torch.conv2d(x, weight, shift), norm(conv(x)), rtol=1e-4, atol=1e-5)
    with pytest.raises(RuntimeError, match="bn has no running statistics"):
        fold_batch_norm2d_into_conv2d(conv, torch.nn.BatchNorm2d(8, track_running_stats=False))


def test_dictionaries_become_trees() -> None:
    tree = make_parameter_dict({"a": {"b": 1}, "c": Conv2dArgs(stride=2)})
    assert tree.a.b == 1 and tree.c.stride == 2 and make_parameter_dict(tree) is tree
    assert repr(make_parameter_dict({})) == "{}" and repr(ParameterList()) == "[]"
