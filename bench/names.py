# SPDX-License-Identifier: Apache-2.0
"""The names of the peers, without loading them."""

EAGER, INDUCTOR, OPENVINO = "torch eager", "torch inductor", "OpenVINO"
# The kernel library that we call ourselves, compared with single kernels.
ONEDNN = "oneDNN"
# XLA, by JAX: compared with what JAX runs on its platform tt.
JAX_CPU = "JAX CPU"
# Compared on ONNX files.
ONNXRUNTIME = "onnxruntime"
PEERS = (EAGER, INDUCTOR, OPENVINO, ONEDNN)
# The same program on the other target.
TTNN = "target ttnn"
