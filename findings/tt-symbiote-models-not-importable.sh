#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# tt_symbiote 0.1.6: three of the models that it lists as supported cannot be imported.
#
# `tt_symbiote.core.module` refuses classes that extend `TTNNModule` directly. They must extend `StatelessTTNNModule` or
# `StatefulTTNNModule`. Modules of the package's own ResNet, Gemma 4 and Qwen3-VL extend `TTNNModule` directly, so that
# importing them raises a TypeError. `import tt_symbiote` turns the error into a warning and does not register the
# models. Its other models import. The package asks for a ttnn that is built from source; the error comes from its own
# classes, before any call of ttnn.
#
# Needs Python 3.12, 6 GB in the temporary folder and no card. Prints how the import of each model ends and which models
# are registered. Exits with 1 when this is not what was seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3.12}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --no-compile tt_symbiote==0.1.6 transformers==5.9.0 torch==2.13.0 ttnn==0.81.1
cat >"$folder/models.py" <<'PY'
import importlib

import tt_symbiote

for model in "bailing_moe_v2", "dots_ocr", "gemma4", "pi05", "qwen3_vl", "resnet":
    try:
        importlib.import_module(f"tt_symbiote.models.{model}")
    except TypeError as error:
        name, _, reason = str(error).partition(" ")
        print(f"FOUND {model}: {type(error).__name__}: {name.rpartition('.')[2]} {reason.partition(',')[0]}")
    else:
        print(f"FOUND {model}: imported")
print("FOUND registered:", *sorted(tt_symbiote.TT_MODEL_REGISTRY))
PY
HOME=$folder "$folder/venv/bin/python" "$folder/models.py" 2>/dev/null | sed -n 's/^FOUND //p' | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
bailing_moe_v2: imported
dots_ocr: imported
gemma4: TypeError: TTNNGemma4RMSNorm extends TTNNModule directly
pi05: imported
qwen3_vl: TypeError: TTNNQwen3VLTextRMSNorm extends TTNNModule directly
resnet: TypeError: TTNNResNetConvLayer extends TTNNModule directly
registered: BailingMoeV2ForCausalLM DotsOCRForCausalLM
SEEN
