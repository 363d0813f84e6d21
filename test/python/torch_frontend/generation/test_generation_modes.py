# SPDX-License-Identifier: Apache-2.0
"""`generate` of transformers with a compiled model, in the ways that it is called: the tokens are those of PyTorch."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from compiled import error_of
from ttmlir.torch.report import record

TOKENS = 6
SMALL = {
    "vocab_size": 160, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4,
    "initializer_range": 0.2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2,
}  # fmt: skip
GROUPED = SMALL | {"num_key_value_heads": 2, "head_dim": 16, "max_position_embeddings": 128}
ENCODER_DECODER = {"vocab_size": 160, "d_model": 64, "pad_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 0}
LAYERS = {"encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 4, "decoder_attention_heads": 4,
          "encoder_ffn_dim": 96, "decoder_ffn_dim": 96, "init_std": 0.2}  # fmt: skip
# By name: the class of a model and its settings.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    # Most of the time goes into Dynamo's trace of the layers; ways to call `generate` do not depend on their number.
    "llama": ("LlamaForCausalLM", GROUPED | {"num_hidden_layers": 1}),
    "llama of two layers": ("LlamaForCausalLM", GROUPED),
    "gpt2": ("GPT2LMHeadModel", SMALL),
    "mistral": ("MistralForCausalLM", GROUPED | {"sliding_window": 5}),
    "gemma2": ("Gemma2ForCausalLM", GROUPED | {"sliding_window": 5, "query_pre_attn_scalar": 16}),
    "gemma3": ("Gemma3ForCausalLM", GROUPED | {"sliding_window": 5, "query_pre_attn_scalar": 16,
                                               "layer_types": ["sliding_attention", "full_attention"]}),
    "t5": ("T5ForConditionalGeneration", ENCODER_DECODER | {
        "d_ff": 96, "d_kv": 16, "num_layers": 2, "num_heads": 4, "initializer_factor": 3.0, "dropout_rate": 0.0}),
    "bart": ("BartForConditionalGeneration", ENCODER_DECODER | LAYERS | {
        "bos_token_id": 1, "forced_eos_token_id": None, "max_position_embeddings": 64}),
    "whisper": ("WhisperForConditionalGeneration", ENCODER_DECODER | LAYERS | {
        "bos_token_id": 1, "num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 40,
        "begin_suppress_tokens": None, "suppress_tokens": None}),
}  # fmt: skip


def model_of(name: str, **changes: Any) -> Any:
    kind = getattr(transformers, MODELS[name][0])
    torch.manual_seed(0)
    model = kind(kind.config_class(**(MODELS[name][1] | changes))).eval()
    model.generation_config.eos_token_id = None  # as many tokens as are requested
    return model


def prompt(batch: int = 1, length: int = 7, seed: int = 1) -> torch.Tensor:
    return torch.randint(3, 150, (batch, length), generator=torch.Generator().manual_seed(seed))


def ids(*shape: int) -> dict[str, Any]:
    found = prompt(*shape)
    return {"input_ids": found, "attention_mask": torch.ones_like(found)}


def padded(left: bool) -> dict[str, Any]:
    """Three prompts of seven, four and two tokens."""
    found, mask = prompt(3), torch.zeros(3, 7, dtype=torch.long)
    for row, count in enumerate((7, 4, 2)):
        mask[row, 7 - count if left else 0 : 7 if left else count] = 1
    return {"input_ids": found * mask, "attention_mask": mask}


def whole(result: Any) -> list[torch.Tensor]:
    """The tensors of what `generate` gives: tokens, and scores or logits where they were requested."""
    if isinstance(result, torch.Tensor):
        return [result]
    found = [result.sequences]
    for name in ("scores", "logits", "sequences_scores"):
        value = getattr(result, name, None)
        found += list(value) if isinstance(value, tuple) else [value] if value is not None else []
    return found


def generate(model: Any, arguments: dict[str, Any]) -> Any:
    return model.generate(**arguments)


def twice(model: Any, arguments: dict[str, Any]) -> Any:
    """Goes on from the cache of a first call, with more tokens behind what it gave."""
    first = model.generate(**arguments, return_dict_in_generate=True)
    more = torch.cat([first.sequences, prompt(1, 3, seed=2)], dim=1)
    follow = arguments | {"input_ids": more, "attention_mask": torch.ones_like(more)}
    return model.generate(**follow, past_key_values=first.past_key_values)


def other_batches(model: Any, arguments: dict[str, Any]) -> Any:
    found = [model.generate(**(arguments | ids(batch))) for batch in (1, 3, 2)]
    return torch.cat([x.flatten() for x in found])


def streamed_and_stopped(model: Any, arguments: dict[str, Any]) -> Any:
    """Gives what a streamer gets of a call that stops at the third new token, and its result."""

    class Streamer(transformers.generation.streamers.BaseStreamer):
        def __init__(self) -> None:
            self.found: list[torch.Tensor] = []

        def put(self, value: torch.Tensor) -> None:
            self.found.append(value.flatten())

        def end(self) -> None:
            self.found.append(torch.tensor([-1]))

    class Stop(transformers.StoppingCriteria):
        def __call__(self, input_ids: torch.Tensor, scores: Any, **_: Any) -> torch.Tensor:
            return torch.full((len(input_ids),), input_ids.shape[1] >= 10)

    streamer, stop = Streamer(), transformers.StoppingCriteriaList([Stop()])
    found = model.generate(**arguments, streamer=streamer, stopping_criteria=stop)
    assert found.shape[1] == 10 and len(streamer.found) == 5  # the prompt, three tokens, the end
    return torch.cat([found.flatten(), *streamer.found])


def assisted(model: Any, arguments: dict[str, Any]) -> Any:
    """A model of one layer of the same weights proposes tokens."""
    helper = model_of("llama", num_hidden_layers=1)
    helper.load_state_dict(model.state_dict(), strict=False)
    if hasattr(model.forward, "_torchdynamo_orig_callable"):
        helper.forward = torch.compile(helper.forward, backend="tt")
    return model.generate(**arguments, assistant_model=helper)


def with_static(model: Any, arguments: dict[str, Any], **settings: Any) -> Any:
    """A cache of the caller's, which goes over two calls after `reset`."""
    cache = transformers.StaticCache(config=model.config, max_cache_len=16, **settings)
    found = []
    for seed in (1, 2):
        cache.reset()
        given = {"input_ids": prompt(1, 7, seed), "attention_mask": torch.ones(1, 7, dtype=torch.long)}
        found.append(model.generate(**(arguments | given), past_key_values=cache))
    return torch.cat(found)


@dataclass(frozen=True)
class Row:
    """A way to call `generate`.

    inputs: make the prompt. more: further arguments. run: calls.
    how: compiles the model; "forward" its method, "module" `model.compile`, "config" leaves it to `generate`.
    dynamic: as `torch.compile` takes it.
    left: ops that PyTorch runs. needs: a package. slow: runs with --slow.
    """

    model: str = "llama"
    inputs: Callable[[], dict[str, Any]] = ids
    more: dict[str, Any] = field(default_factory=dict)
    run: Callable[[Any, dict[str, Any]], Any] = generate
    how: str = "forward"
    dynamic: bool | None = None
    left: frozenset[str] = frozenset()
    needs: str = ""
    slow: bool = False


def quantised(backend: str, **settings: Any) -> dict[str, Any]:
    return {"cache_implementation": "quantized", "cache_config": {"backend": backend} | settings}


LOGITS = {"return_dict_in_generate": True, "output_logits": True}
STATIC = {"cache_implementation": "static"}
SAMPLED = {"do_sample": True, "temperature": 1.5}
WORDS = partial(ids, 2, 9)
SOUND = lambda: {"input_features": torch.randn(1, 8, 40, generator=torch.Generator().manual_seed(1))}  # noqa: E731
ROWS = {
    "default": Row("llama of two layers", more=LOGITS),
    "static": Row("llama of two layers", more=LOGITS | STATIC),
    "no-cache": Row(more={"use_cache": False}, slow=True),
    "module": Row(how="module"),
    "static-module": Row(more=STATIC, how="module", slow=True),
    "compile-config": Row(more=LOGITS | STATIC, how="config"),
    # One family of a kind of attention and cache runs by default, the others with --slow.
    "mistral": Row("mistral", more=LOGITS, slow=True),
    "mistral-static": Row("mistral", more=LOGITS | STATIC, slow=True),
    "gemma2": Row("gemma2", more=LOGITS, slow=True),
    "gemma2-static": Row("gemma2", more=LOGITS | STATIC),
    "gemma3": Row("gemma3", more=LOGITS),
    "gemma3-static": Row("gemma3", more=LOGITS | STATIC, slow=True),
    # Tensors of quanto are made for sizes that are known; its ops are its own.
    "quantised": Row(
        more=quantised("quanto", nbits=4, q_group_size=32, residual_length=4),
        dynamic=False,
        left=frozenset({"quanto.quantize_affine.default", "quanto.unpack.default"}),
        needs="optimum.quanto",
        slow=True,
    ),
    "quantised-fp8": Row(
        more=quantised("fp8"), left=frozenset({"aten._to_copy.default", "aten.cat.default"}), slow=True
    ),
    "beams": Row(inputs=partial(ids, 2), more={"num_beams": 3, "num_return_sequences": 2}),
    "beams-static": Row(more={"num_beams": 3} | STATIC),
    "beam-samples": Row(more={"num_beams": 3} | SAMPLED, slow=True),
    "sampling": Row(inputs=partial(ids, 2), more=SAMPLED | {"top_k": 20, "top_p": 0.9}, slow=True),
    "sampling-static": Row(more=SAMPLED | STATIC),
    "several-sequences": Row(more=SAMPLED | {"num_return_sequences": 3}, slow=True),
    "padded-left-sampling": Row(inputs=partial(padded, True), more=LOGITS | SAMPLED | {"top_k": 20, "top_p": 0.9}),
    "padded-left": Row(inputs=partial(padded, True), more=LOGITS, slow=True),
    "padded-right": Row(inputs=partial(padded, False), more=LOGITS),
    "padded-left-static": Row(inputs=partial(padded, True), more=LOGITS | STATIC),
    "padded-right-gpt2": Row("gpt2", inputs=partial(padded, False), more=LOGITS, slow=True),
    "assisted": Row("llama of two layers", run=assisted),
    "prompt-lookup": Row(inputs=lambda: {"input_ids": prompt().repeat(1, 2)}, more={"prompt_lookup_num_tokens": 3}),
    "chunked": Row(more={"prefill_chunk_size": 3}),
    "chunked-static": Row(more={"prefill_chunk_size": 3} | STATIC),
    "processors-stopping-streamer": Row(
        more={"repetition_penalty": 1.3, "no_repeat_ngram_size": 2, "min_new_tokens": 2}, run=streamed_and_stopped
    ),
    "goes-on": Row(run=twice),
    "own-static-cache": Row(run=with_static),
    "batches": Row(run=other_batches),
    "batches-static": Row(more=STATIC, run=other_batches, slow=True),
    "t5": Row("t5", inputs=WORDS, more=LOGITS, slow=True),
    "t5-static": Row("t5", inputs=WORDS, more=LOGITS | STATIC),
    "t5-beams": Row("t5", inputs=WORDS, more=LOGITS | {"num_beams": 2}),
    "t5-module": Row("t5", inputs=WORDS, how="module", slow=True),
    "bart": Row("bart", inputs=WORDS, more=LOGITS, slow=True),
    "bart-static": Row("bart", inputs=WORDS, more=LOGITS | STATIC),
    "bart-beams": Row("bart", inputs=WORDS, more={"num_beams": 2}, slow=True),
    "whisper": Row("whisper", inputs=SOUND),
    "whisper-static": Row("whisper", inputs=SOUND, more=STATIC, slow=True),
}


def both(row: Row, tokens: int = TOKENS) -> tuple[list[torch.Tensor], list[torch.Tensor], list[Any]]:
    """Returns the results of PyTorch and of the chip, and the reports of the latter."""
    model = model_of(row.model)
    arguments = row.inputs() | {"max_new_tokens": tokens, "do_sample": False} | row.more
    torch.manual_seed(3)
    want = whole(row.run(model, copy.deepcopy(arguments)))
    state = torch.get_rng_state()
    if row.how == "config":
        arguments["compile_config"] = transformers.CompileConfig(backend="tt", mode=None, fullgraph=False)
        arguments["compile_config"]._compile_all_devices = True
    else:
        arguments["disable_compile"] = True
    if row.how == "forward":
        model.forward = torch.compile(model.forward, backend="tt", dynamic=row.dynamic)
    elif row.how == "module":
        model.compile(backend="tt")
    torch.manual_seed(3)
    with record() as reports:
        got = whole(row.run(model, copy.deepcopy(arguments)))
    assert torch.equal(torch.get_rng_state(), state), "draws"
    return want, got, reports


@pytest.mark.long
@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if row.slow else name for name, row in ROWS.items()]
)
def test_the_tokens_are_those_of_pytorch(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    row = ROWS[name]
    if row.needs:
        monkeypatch.setattr(sys, "path", [*sys.path, str(Path(sys.prefix) / "language-model")])
        pytest.importorskip(row.needs)
    want, got, reports = both(row)
    assert torch.equal(got[0], want[0]), f"{got[0].tolist()}, expected {want[0].tolist()}"
    assert [x.shape for x in got] == [x.shape for x in want]
    for number, (a, b) in enumerate(zip(got[1:], want[1:], strict=True)):
        assert error_of(a, b) < 1e-5, f"step {number}"
    assert reports and {op for report in reports for op in report.on_host} == row.left
