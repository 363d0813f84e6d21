#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# onnxruntime 1.32.0: TreeEnsembleClassifier with the labels 7 and 9 answers 1.
#
# The tree has two leaves, and each votes for both classes with positive weights. The first output is the label of the
# class with the highest score. onnxruntime computes the scores as onnx's reference evaluator does, but the label of
# both rows is 1, which is none of the labels, although their best classes differ. With a third label that gets no vote,
# the labels are right.
#
# Prints labels and scores of both. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q onnxruntime==1.32.0 onnx==1.23.2 numpy==2.4.6
cat >"$folder/tree.py" <<'PY'
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

rows = np.array([[0], [1]], np.float32)
for labels in [7, 9], [7, 9, 11]:
    node = helper.make_node(
        "TreeEnsembleClassifier",
        ["X"],
        ["label", "scores"],
        domain="ai.onnx.ml",
        nodes_treeids=[0, 0, 0],
        nodes_nodeids=[0, 1, 2],
        nodes_featureids=[0, 0, 0],
        nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"],
        nodes_values=[0.5, 0.0, 0.0],
        nodes_truenodeids=[1, 0, 0],
        nodes_falsenodeids=[2, 0, 0],
        class_treeids=[0, 0, 0, 0],
        class_nodeids=[1, 1, 2, 2],
        class_ids=[0, 1, 0, 1],
        class_weights=[0.75, 0.25, 0.25, 0.75],
        classlabels_int64s=labels,
        post_transform="NONE",
    )
    x = helper.make_tensor_value_info("X", TensorProto.FLOAT, [2, 1])
    label = helper.make_tensor_value_info("label", TensorProto.INT64, [2])
    scores = helper.make_tensor_value_info("scores", TensorProto.FLOAT, [2, len(labels)])
    graph = helper.make_graph([node], "net", [x], [label, scores])
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("ai.onnx.ml", 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    onnx.checker.check_model(model, full_check=True)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    for name, run in ("onnx", ReferenceEvaluator(model).run), ("onnxruntime", session.run):
        print(f"{labels}, {name}:", *(output.tolist() for output in run(None, {"X": rows})))
PY
found=$("$folder/venv/bin/python" "$folder/tree.py")
echo "$found"
[ "$found" = "[7, 9], onnx: [7, 9] [[0.75, 0.25], [0.25, 0.75]]
[7, 9], onnxruntime: [1, 1] [[0.75, 0.25], [0.25, 0.75]]
[7, 9, 11], onnx: [7, 9] [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]]
[7, 9, 11], onnxruntime: [7, 9] [[0.75, 0.25, 0.0], [0.25, 0.75, 0.0]]" ]
