# SPDX-License-Identifier: Apache-2.0
"""Modules of TensorFlow, in a process that has it: scripts/setup.sh installs it next to the other packages."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(sys.prefix) / "tensorflow-2"
BEGIN = """
import numpy as np
import pybuda
import tensorflow as tf
import torch

X = torch.arange(12.0).reshape(3, 4) - 5
WEIGHTS = np.linspace(-1, 1, 20).reshape(4, 5).astype(np.float32)


class Layer(tf.Module):
    def __init__(self):
        self.weights = tf.Variable(WEIGHTS)

    def __call__(self, x):
        return tf.nn.relu(x @ self.weights), tf.reduce_sum(x)
"""
PROGRAMS = {
    "module": """
pybuda.CPUDevice("cpu0", module=pybuda.TFModule("layer", Layer())).push_to_inputs(X)
product, total = pybuda.run_inference().get()
np.testing.assert_allclose(product.value(), np.maximum(X.numpy() @ WEIGHTS, 0), rtol=1e-6)
assert total.value().item() == X.sum()
""",
    "in a pipeline, before a chip": """
pybuda.set_configuration_options(default_df_override=pybuda.DataFormat.Float32)
cpu0 = pybuda.CPUDevice("cpu0", module=pybuda.TFModule("square", tf.square))
pybuda.TTDevice("tt0", module=pybuda.PyTorchModule("negative", torch.nn.LeakyReLU(0.5)))
cpu0.push_to_inputs(X)
(got,) = pybuda.run_inference().get()
assert torch.equal(got.value(), X * X)
""",
    "inputs and results": """
(got,) = pybuda.TFModule("sqrt", tf.sqrt).call(tf.constant([4.0, 9.0]))
assert got.tolist() == [2.0, 3.0]
made = pybuda.Tensor(X).to_framework("tensorflow")
assert isinstance(made, tf.Tensor) and np.array_equal(made, X)
cpu0 = pybuda.CPUDevice("cpu0", module=pybuda.TFModule("sqrt", tf.sqrt))
cpu0.push_to_inputs(tf.constant([[16.0]]))
assert pybuda.run_inference().get()[0].value().tolist() == [[4.0]]
""",
    "lite": """
made = tf.lite.TFLiteConverter.from_concrete_functions(
    [tf.function(lambda x: x @ WEIGHTS).get_concrete_function(tf.TensorSpec((3, 4), tf.float32))]
).convert()
interpreter = tf.lite.Interpreter(model_content=made)
interpreter.allocate_tensors()


def run(x):
    interpreter.set_tensor(interpreter.get_input_details()[0]["index"], x)
    interpreter.invoke()
    return interpreter.get_tensor(interpreter.get_output_details()[0]["index"])


pybuda.CPUDevice("cpu0", module=pybuda.TFLiteModule("lite", run)).push_to_inputs(X)
np.testing.assert_allclose(pybuda.run_inference().get()[0].value(), X.numpy() @ WEIGHTS, rtol=1e-5)
""",
    "graph": """
graph = tf.function(lambda x: tf.nn.softmax(x)).get_concrete_function(tf.TensorSpec((3, 4), tf.float32))
module = pybuda.TFGraphDefModule("graph", lambda x: graph(tf.constant(x)))
pybuda.CPUDevice("cpu0", module=module).push_to_inputs(X)
np.testing.assert_allclose(pybuda.run_inference().get()[0].value(), torch.softmax(X, -1), rtol=1e-5)
""",
    "what is refused": """
def said(run):
    try:
        run()
    except pybuda.PyBudaError as error:
        return str(error)


module = pybuda.TFModule("layer", Layer())
assert "TFModule 'layer' has no backward pass" in said(lambda: module.backward((X, X)))
device = pybuda.TTDevice("tt0", module=module)
device.push_to_inputs(X)
assert "TFModule 'layer' cannot be compiled for a TTDevice; use an OnnxModule" in said(pybuda.run_inference)
""",
}


RUN = """
import json
import sys
import traceback
from pybuda.pybudaglobal import pybuda_reset

failed = {}
for name, text in json.load(sys.stdin).items():
    pybuda_reset()
    try:
        exec(text, dict(globals()))
    except Exception:
        failed[name] = traceback.format_exc()
pybuda_reset()
print(json.dumps(failed))
"""


@pytest.fixture(scope="module")
def failed() -> dict[str, str]:
    """The programs that failed, with why. They run in one process: importing TensorFlow takes several seconds."""
    path = os.pathsep.join([str(FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])])
    ran = subprocess.run(
        [sys.executable, "-c", BEGIN + RUN], env={**os.environ, "PYTHONPATH": path, "TF_CPP_MIN_LOG_LEVEL": "2"},
        input=json.dumps(PROGRAMS), capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    found: dict[str, str] = json.loads(ran.stdout.splitlines()[-1])
    return found


@pytest.mark.long
@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"needs {FOLDER}, which scripts/setup.sh makes")
@pytest.mark.parametrize("name", PROGRAMS)
def test_with_tensorflow(name: str, failed: dict[str, str]) -> None:
    assert not failed.get(name), failed[name]
