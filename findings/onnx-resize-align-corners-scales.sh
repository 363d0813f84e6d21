#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnx 1.23.2 and onnxruntime 1.32.0 disagree about Resize with align_corners and scales.
#
# Eight values are resized by 1.7 to 13. ONNX's reference evaluator puts the last corner at 8 * 1.7 - 1 = 12.6, so the
# last of the 13 results is interpolated; onnxruntime puts it at 13 - 1 = 12, so the last result is the last value.
# Given the size 13 instead of the scale, both agree, on onnxruntime's values.
#
# Prints the second and the last result. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
cat >resize.py <<'PY'
import numpy
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

image = numpy.arange(8, dtype=numpy.float32).reshape(1, 1, 1, 8)
for name, value in (("scales", numpy.array([1, 1, 1, 1.7], numpy.float32)), ("sizes", numpy.array([1, 1, 1, 13]))):
    inputs = ["image", "", "", name] if name == "sizes" else ["image", "", name]
    node = helper.make_node("Resize", inputs, ["out"], mode="linear", coordinate_transformation_mode="align_corners")
    graph = helper.make_graph(
        [node],
        "resize",
        [helper.make_tensor_value_info("image", TensorProto.FLOAT, image.shape)],
        [helper.make_tensor_value_info("out", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name)],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    for who, (out,) in (
        ("onnxruntime", session.run(None, {"image": image})),
        ("evaluator", ReferenceEvaluator(model).run(None, {"image": image})),
    ):
        print(name, who, out.size, *(f"{float(each):.3f}" for each in out.ravel()[[1, -1]]))
PY
env/bin/python resize.py | tee results
grep -qx 'scales evaluator 13 0.556 6.667' results
[ "$(grep -c ' 13 0.583 7.000$' results)" = 3 ]
