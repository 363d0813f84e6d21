#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# transformers 5.23.0: decoders whose configuration has return_dict=False cannot run at all.
#
# The configuration and the argument `return_dict` both ask for tuples. The models of GPT-2, OPT and Llama with a head
# call their base model without this argument and read fields of its result. The base model finds False in the
# configuration that they share and returns a tuple, so that each call raises an AttributeError, also one with
# return_dict=True. With the argument alone they return tuples. BERT's models pass the argument on and return tuples in
# both cases.
#
# Prints what a call of each model ends with: by the configuration, by the configuration and return_dict=True, and by
# the argument alone. Exits with 1 when this is not what was seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.23.0
cat >"$folder/calls.py" <<'PY'
import torch
import transformers as hf

ids = torch.tensor([[1, 2, 3]])
numbers = {"vocab_size": 32, "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
models = {
    "GPT-2": (hf.GPT2LMHeadModel, hf.GPT2Config, {"n_embd": 16, "n_layer": 1, "n_head": 2}),
    "OPT": (hf.OPTForCausalLM, hf.OPTConfig, {**sizes, "ffn_dim": 16, "word_embed_proj_dim": 16}),
    "Llama": (hf.LlamaForCausalLM, hf.LlamaConfig, {**sizes, "intermediate_size": 16}),
    "BERT": (hf.BertForMaskedLM, hf.BertConfig, {**sizes, "intermediate_size": 16}),
}


def ends(name, in_config, arguments):
    model, config, attributes = models[name]
    made = model(config(**numbers, **attributes, **in_config)).eval()
    try:
        return type(made(ids, **arguments)).__name__
    except AttributeError as error:
        return f"AttributeError: {error}"


for name in models:
    print("FOUND", name, "by configuration:", ends(name, {"return_dict": False}, {}))
    print("FOUND", name, "and return_dict=True:", ends(name, {"return_dict": False}, {"return_dict": True}))
    print("FOUND", name, "by argument:", ends(name, {}, {"return_dict": False}))
PY
found=$("$folder/venv/bin/python" "$folder/calls.py" 2>"$folder/log" | sed -n 's/^FOUND //p') ||
  { cat "$folder/log" && exit 1; }
echo "$found"
expected=$(
  for model in GPT-2 OPT Llama; do
    echo "$model by configuration: AttributeError: 'tuple' object has no attribute 'last_hidden_state'"
    echo "$model and return_dict=True: AttributeError: 'tuple' object has no attribute 'last_hidden_state'"
    echo "$model by argument: tuple"
  done
  echo "BERT by configuration: tuple"
  echo "BERT and return_dict=True: MaskedLMOutput"
  echo "BERT by argument: tuple"
)
[ "$found" = "$expected" ]
