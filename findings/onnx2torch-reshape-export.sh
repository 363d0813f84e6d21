#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnx2torch 1.5.15, PyTorch 2.13.0: a model with a Reshape cannot be exported by torch.export.
#
# The shape of the Reshape is a constant of the file. The module of onnx2torch keeps it as a tensor and branches on its
# elements (`if torch.any(shape == 0)`), so that torch.export stops at a guard on data, for inputs of fixed sizes as well.
# The module computes the right result eagerly.
#
# Prints both. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
pip=$folder/venv/bin/pip
"$pip" install -q torch==2.13.0 numpy onnx==1.23.2
"$pip" install -q --no-deps onnx2torch==1.5.15
# onnx2torch imports torchvision for two other ops; a build for another machine would replace PyTorch.
mkdir "$folder/torchvision"
echo "roi_align = nms = box_convert = None" >"$folder/torchvision/ops.py"
echo "from . import ops" >"$folder/torchvision/__init__.py"
cat >"$folder/reshape.py" <<'PY'
import numpy as np
import onnx
import onnx2torch
import torch
from onnx import TensorProto, helper, numpy_helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3, 8])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [6, 8])
shape = numpy_helper.from_array(np.array([6, 8], np.int64), "shape")
graph = helper.make_graph([helper.make_node("Reshape", ["x", "shape"], ["y"])], "net", [x], [y], [shape])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.checker.check_model(model, full_check=True)
module = onnx2torch.convert(model)
print("eager:", tuple(module(torch.ones(2, 3, 8)).shape))
try:
    torch.export.export(module, (torch.ones(2, 3, 8),))
except Exception as error:
    print("torch.export:", type(error).__name__)
else:
    print("torch.export: exported")
PY
found=$("$folder/venv/bin/python" "$folder/reshape.py" 2>"$folder/log" | grep -E '^(eager|torch.export)')
echo "$found"
[ "$found" = "$(printf 'eager: (6, 8)\ntorch.export: GuardOnDataDependentSymNode')" ]
