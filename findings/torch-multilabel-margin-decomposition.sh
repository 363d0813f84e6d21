#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch 2.13.0 on a CPU: multilabel_margin_loss has another value when it is compiled.
#
# A target lists the labels of a row up to the first -1; what follows does not count. For scores (0.1, 0.2, 0.4, 0.8) and
# the target (3, 0, -1, 1), eager PyTorch gives the documented value, 0.85. With torch.compile and backend "aot_eager",
# which runs the decomposition that other backends compile, the places from -1 on count as label 0 as well: 2.05.
#
# Prints the values. Exits with 1 when they are not those that were seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
python3 -m venv env
env/bin/pip install --quiet torch==2.13.0 numpy==2.4.6
cat >loss.py <<'PY'
import torch
from torch.nn.functional import multilabel_margin_loss

scores = torch.tensor([[0.1, 0.2, 0.4, 0.8]])
compiled = torch.compile(multilabel_margin_loss, backend="aot_eager")
target = torch.tensor([[3, 0, -1, 1]])
print(f"eager {multilabel_margin_loss(scores, target):.2f} aot_eager {compiled(scores, target):.2f}")
PY
env/bin/python loss.py | tee results
grep -qx 'eager 0.85 aot_eager 2.05' results
