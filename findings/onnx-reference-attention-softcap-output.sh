#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnx 1.23.2: the reference evaluator gives capped scores as the product of Q and K of an Attention.
#
# The fourth output is the product of Q and K where qk_matmul_output_mode is 0, and the product after the softcap where
# it is 1. The reference evaluator overwrites the product with the capped one, and gives this in both modes.
# onnxruntime 1.32.0 follows the definition: it gives the product in mode 0. The first output is the same for both.
#
# Prints the fourth output of both, in both modes. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
cat >"$folder/attention.py" <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

values = {
    "Q": np.array([[[[4, 0]]]], np.float32),
    "K": np.array([[[[2, 0], [-1, 0]]]], np.float32),
    "V": np.array([[[[1, 0], [0, 1]]]], np.float32),
}
inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, value.shape) for name, value in values.items()]
outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 1, 1, 2]) for name in ("Y", "product")]
for opset in 23, 24:
    for mode in 0, 1:
        node = helper.make_node(
            "Attention", list(values), ["Y", "", "", "product"], scale=1.0, softcap=2.0, qk_matmul_output_mode=mode
        )
        graph = helper.make_graph([node], "net", inputs, outputs)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
        onnx.checker.check_model(model, full_check=True)
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        reference = ReferenceEvaluator(model).run(None, values)
        runtime = session.run(None, values)
        np.testing.assert_allclose(reference[0], runtime[0], rtol=1e-5)
        for name, found in ("onnx", reference), ("onnxruntime", runtime):
            print(f"opset {opset}, mode {mode}, {name}:", *(f"{value:.3f}" for value in found[1].ravel()))
PY
found=$("$folder/venv/bin/python" "$folder/attention.py")
echo "$found"
for opset in 23 24; do
  echo "opset $opset, mode 0, onnx: 1.999 -1.928"
  echo "opset $opset, mode 0, onnxruntime: 8.000 -4.000"
  echo "opset $opset, mode 1, onnx: 1.999 -1.928"
  echo "opset $opset, mode 1, onnxruntime: 1.999 -1.928"
done >"$folder/expected"
[ "$found" = "$(cat "$folder/expected")" ]
