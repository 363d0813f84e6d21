#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnxruntime 1.32.0: the values of DynamicQuantizeLSTM depend on the number of threads.
#
# The op quantizes the hidden state before each step. With one thread, all rows of the batch share one scale. With two,
# each thread has some of the rows and quantizes these alone. The batch has two rows of different ranges: results are
# equal in the first step, whose hidden state is zero, and differ by more than 0.001 in each later one. The
# documentation of the op names no dependence on threads; runs with the same number of them agree.
#
# Prints which steps differ. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
cat >"$folder/lstm.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

steps, batch, size, hidden = 4, 2, 8, 64
draw = np.random.default_rng(0)


def whole(*shape):
    return draw.integers(-100, 100, shape).astype(np.int8)


weights = {
    "w": whole(1, size, 4 * hidden), "r": whole(1, hidden, 4 * hidden),
    "ws": np.full(1, 0.004, np.float32), "wz": np.zeros(1, np.int8),
    "rs": np.full(1, 0.004, np.float32), "rz": np.zeros(1, np.int8),
}
inputs = ["x", "w", "r", "", "", "", "", "", "ws", "wz", "rs", "rz"]
node = helper.make_node("DynamicQuantizeLSTM", inputs, ["y"], domain="com.microsoft", hidden_size=hidden)
graph = helper.make_graph(
    [node], "g", [helper.make_tensor_value_info("x", TensorProto.FLOAT, [steps, batch, size])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
    [numpy_helper.from_array(value, name) for name, value in weights.items()],
)
opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
model = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
x = draw.standard_normal((steps, batch, size)).astype(np.float32) * np.float32([[[1], [0.1]]])


def run(threads):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})[0]


def steps_above(a, b, bound):
    return (np.abs(a - b).max((1, 2, 3)) > bound).tolist()


one, two = run(1), run(2)
print("1 thread and 2:", steps_above(one, two, 1e-3))
print("2 threads and 2:", steps_above(run(2), two, 0))
PY
found=$("$folder/venv/bin/python" "$folder/lstm.py")
echo "$found"
[ "$found" = "1 thread and 2: [False, True, True, True]
2 threads and 2: [False, False, False, False]" ]
