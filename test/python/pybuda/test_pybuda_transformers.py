# SPDX-License-Identifier: Apache-2.0
"""Pipelines of transformers on a device give the text that they give on the CPU."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pybuda
import pytest
import torch
import transformers
from pybuda.transformers import NLPPipelineWrapper
from pybuda.transformers.pipeline import pipeline

WORDS = ["<pad>", "<unk>", *"abcdefghijklmnopqrstuvwxyz", "[MASK]", "[CLS]", "[SEP]"]


@pytest.fixture(name="tokenizer")
def make_tokenizer(tmp_path: Path) -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    base = Tokenizer(models.WordLevel({word: i for i, word in enumerate(WORDS)}, unk_token="<unk>"))
    base.pre_tokenizer = pre_tokenizers.WhitespaceSplit()  # type: ignore[assignment]
    base.save(str(tmp_path / "tokenizer.json"))
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "PreTrainedTokenizerFast"}))
    return transformers.PreTrainedTokenizerFast(
        tokenizer_file=str(tmp_path / "tokenizer.json"), pad_token="<pad>", unk_token="<unk>", mask_token="[MASK]",
    )  # fmt: skip


def causal(**more: Any) -> Any:
    torch.manual_seed(1)
    config = transformers.GPT2Config(
        vocab_size=len(WORDS), n_positions=64, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=None, **more
    )
    return transformers.GPT2LMHeadModel(config).eval()


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("prompts", [["a b c"], ["a b c", "d e f g h"]], ids=["one", "two lengths"])
def test_generation(tokenizer: Any, prompts: list[str]) -> None:
    model = causal()
    plain = copy.deepcopy(model)
    options: dict[str, Any] = {"max_new_tokens": 6, "do_sample": False}
    expected = transformers.pipeline("text-generation", model=plain, tokenizer=tokenizer, device="cpu")
    on_device = pipeline("text-generation", model=model, tokenizer=tokenizer, pybuda_max_length=32, device="cpu")
    for prompt in prompts:
        assert on_device(prompt, **options) == expected(prompt, **options)
    assert pybuda.get_tenstorrent_device().compiled is not None  # type: ignore[union-attr]


@pytest.mark.usefixtures("float32")
def test_a_model_by_name(tokenizer: Any, tmp_path: Path) -> None:
    folder = tmp_path / "tiny-gpt"
    causal().save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    options: dict[str, Any] = {"max_new_tokens": 3, "do_sample": False}
    expected = transformers.pipeline("text-generation", model=str(folder), device="cpu")("a b", **options)
    run = pipeline("text-generation", model=str(folder), pybuda_max_length=16, device="cpu")
    assert run("a b", **options) == expected
    assert pybuda.get_tenstorrent_device().name == "tiny_gpt"  # type: ignore[union-attr]


@pytest.mark.usefixtures("float32")
def test_an_encoder_with_a_decoder(tokenizer: Any) -> None:
    torch.manual_seed(2)
    config = transformers.T5Config(
        vocab_size=len(WORDS), d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, decoder_start_token_id=0,
        eos_token_id=None, pad_token_id=0,
    )  # fmt: skip
    model = transformers.T5ForConditionalGeneration(config).eval()
    plain = copy.deepcopy(model)
    NLPPipelineWrapper(model, tokenizer, "t5", max_length=32)
    ids = torch.tensor([[3, 4, 5, 6]])
    options: dict[str, Any] = {"max_new_tokens": 5, "do_sample": False}
    assert torch.equal(model.generate(ids, **options), plain.generate(ids, **options))


def t5(**more: Any) -> Any:
    torch.manual_seed(2)
    config = transformers.T5Config(
        vocab_size=len(WORDS), d_model=32, d_kv=16, d_ff=64, num_layers=1, num_heads=2, decoder_start_token_id=0,
        eos_token_id=None, pad_token_id=0, **more,
    )  # fmt: skip
    return transformers.T5ForConditionalGeneration(config).eval()


@pytest.mark.usefixtures("float32")
@pytest.mark.parametrize("texts", ["a b c", ["a b c", "d e"]], ids=["one", "two"])
def test_text_to_text(tokenizer: Any, texts: Any) -> None:
    """With a configuration as programs for PyBuda set it."""
    plain, options = t5(), {"max_new_tokens": 4, "num_beams": 2, "num_return_sequences": 2}
    run = pipeline(
        "text2text-generation", model=t5(return_dict=False, use_cache=False), tokenizer=tokenizer, pybuda_max_length=32
    )
    tokens = tokenizer(texts if isinstance(texts, list) else [texts], return_tensors="pt", padding=True)
    given = {name: tokens[name] for name in ("input_ids", "attention_mask")}
    expected = tokenizer.batch_decode(plain.generate(**given, **options), skip_special_tokens=True)
    found = run(texts, **options)
    rows = [row for rows in found for row in rows] if isinstance(texts, list) else found
    assert [row["generated_text"] for row in rows] == expected


@pytest.mark.usefixtures("float32")
def test_a_configuration_without_dictionaries(tokenizer: Any) -> None:
    model, plain = causal(return_dict=False, use_cache=False), causal()
    on_device = pipeline("text-generation", model=model, tokenizer=tokenizer, pybuda_max_length=32, device="cpu")
    expected = transformers.pipeline("text-generation", model=plain, tokenizer=tokenizer, device="cpu")
    options: dict[str, Any] = {"max_new_tokens": 4, "do_sample": False}
    assert on_device("a b c", **options) == expected("a b c", **options)


def test_the_positions_of_a_decoder(tokenizer: Any) -> None:
    config = transformers.WhisperConfig(
        vocab_size=len(WORDS), d_model=32, encoder_layers=1, decoder_layers=1, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_source_positions=50,
        max_target_positions=24, pad_token_id=0, bos_token_id=1, eos_token_id=1, decoder_start_token_id=1,
    )  # fmt: skip
    model = transformers.WhisperForConditionalGeneration(config).eval()
    assert NLPPipelineWrapper(model, tokenizer, "whisper").max_length == 24


@pytest.mark.usefixtures("float32")
def test_logits_of_an_encoder(tokenizer: Any) -> None:
    torch.manual_seed(3)
    config = transformers.BertConfig(
        vocab_size=len(WORDS), hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64,
    )  # fmt: skip
    model = transformers.BertForMaskedLM(config).eval()
    plain = copy.deepcopy(model)
    on_device = pipeline("fill-mask", model=model, tokenizer=tokenizer, pybuda_max_length=32, device="cpu")
    expected = transformers.pipeline("fill-mask", model=plain, tokenizer=tokenizer, device="cpu")
    for found, reference in zip(on_device("a b [MASK] d"), expected("a b [MASK] d"), strict=True):
        assert found["token_str"] == reference["token_str"]
        assert found["score"] == pytest.approx(reference["score"], rel=1e-3)


def test_a_function_instead_of_a_device(tokenizer: Any) -> None:
    seen: list[Any] = []

    def forward(tensors: tuple[torch.Tensor, ...]) -> torch.Tensor:
        seen.append([x.shape for x in tensors])
        logits = torch.zeros(1, 32, len(WORDS))
        logits[..., 5] = 1
        return logits

    run = pipeline("text-generation", model=causal(), tokenizer=tokenizer, forward_fn=forward, pybuda_max_length=32)
    (result,) = run("a b", max_new_tokens=2, do_sample=False)
    assert result["generated_text"].replace(" ", "") == "abdd"
    assert all(shape == (1, 32) for shapes in seen for shape in shapes)
    assert not pybuda.pybudaglobal.get_devices()


def test_wrong_use(tokenizer: Any) -> None:
    with pytest.raises(pybuda.PyBudaError, match="pipeline: model is int; expected a name or a model"):
        pipeline("text-generation", model=3)
    model = causal()
    NLPPipelineWrapper(model, tokenizer, "gpt", max_length=4)
    with pytest.raises(pybuda.PyBudaError, match=r"input_ids has 5 elements; expected 4 at most \(pybuda_max_length\)"):
        model(torch.ones(1, 5, dtype=torch.int64))
    with pytest.raises(pybuda.PyBudaError, match="model 'x': max_length is 0; expected 1 or more"):
        NLPPipelineWrapper(causal(), tokenizer, "x", max_length=0)
