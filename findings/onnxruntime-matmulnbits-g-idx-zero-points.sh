#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnxruntime 1.32.0, CPU: MatMulNBits with `g_idx` leaves out packed zero points.
#
# `g_idx` names the block of each row of the weights. Here it names the block that the row has without it, so that it
# changes nothing. With zero points as floats the product is right with it and without it. With the same zero points
# packed into bytes, the product is right without `g_idx`; with it, the result is that of a model without zero points,
# where each of them is 8. There is no error and no warning. `g_idx` is deprecated, but still accepted.
#
# Prints the products compared with those of NumPy. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
cat >"$folder/product.py" <<'PY'
import numpy as np
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

K, N, BLOCK = 32, 2, 16
draw = np.random.default_rng(0)
codes = draw.integers(0, 16, (N, K)).astype(np.uint8)
weights = (codes[:, 0::2] | (codes[:, 1::2] << 4)).reshape(N, K // BLOCK, BLOCK // 2)
scales = np.array([[1, 0.5], [2, 1]], np.float32)
zeros = np.array([[3, 5], [1, 12]], np.uint8)
blocks = (np.arange(K) // BLOCK).astype(np.int32)
a = draw.integers(-2, 3, (1, K)).astype(np.float32)


def product(zero_points, g_idx):
    values = {"B": weights, "scales": scales, "zero_points": zero_points, "g_idx": g_idx}
    given = {name: value for name, value in values.items() if value is not None}
    node = helper.make_node(
        "MatMulNBits",
        ["A", *(name if name in given else "" for name in values)],
        ["Y"],
        domain="com.microsoft",
        K=K,
        N=N,
        bits=4,
        block_size=BLOCK,
    )
    x = helper.make_tensor_value_info("A", TensorProto.FLOAT, [1, K])
    y = helper.make_tensor_value_info("Y", TensorProto.FLOAT, [1, N])
    constants = [numpy_helper.from_array(value, name) for name, value in given.items()]
    graph = helper.make_graph([node], "net", [x], [y], constants)
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, {"A": a})[0][0].tolist()


def expected(zero_points):
    return (a @ ((codes - zero_points[:, blocks]) * scales[:, blocks]).T)[0].tolist()


floats = zeros.astype(np.float32)
packed = zeros[:, 0:1] | (zeros[:, 1:2] << 4)
print("NumPy:", expected(floats))
print("NumPy, zero points 8:", expected(np.full_like(floats, 8)))
print("floats:", product(floats, None))
print("floats, g_idx:", product(floats, blocks))
print("packed:", product(packed, None))
print("packed, g_idx:", product(packed, blocks))
PY
found=$("$folder/venv/bin/python" "$folder/product.py")
echo "$found"
[ "$found" = "NumPy: [21.5, -64.0]
NumPy, zero points 8: [6.5, -106.0]
floats: [21.5, -64.0]
floats, g_idx: [21.5, -64.0]
packed: [21.5, -64.0]
packed, g_idx: [6.5, -106.0]" ]
