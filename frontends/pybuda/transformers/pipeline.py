# SPDX-License-Identifier: Apache-2.0
"""Pipelines of the package `transformers` whose models run on a Tenstorrent device, with sequences of one length."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import torch

from ..capture.formats import DataFormat
from ..errors import PyBudaError
from ..module import PyTorchModule
from ..run import run_inference, shutdown
from ..ttdevice import TTDevice

# Elements of sequences, where nothing says another number.
LENGTH = 256
# Arguments of `forward` that are sequences, and what fills them: None for the tokenizer's padding.
OF_MODEL: dict[str, int | None] = {"input_ids": None, "attention_mask": 0, "token_type_ids": 0, "position_ids": 0}
OF_DECODER: dict[str, int | None] = {"decoder_input_ids": None, "decoder_attention_mask": 0}
# Arguments that a program of fixed sizes does not take.
DROPPED = ("cache_position", "past_key_values", "use_cache", "return_dict", "logits_to_keep", "num_logits_to_keep")


class _Fixed(torch.nn.Module):
    """A model as a function of tensors, in the order of `names`; it returns its first result."""

    def __init__(self, model: torch.nn.Module, forward: Callable[..., Any], use_cache: bool | None) -> None:
        super().__init__()
        self.model, self.names = model, [""]
        self.run, self.use_cache = forward, use_cache

    def forward(self, *tensors: torch.Tensor) -> torch.Tensor:
        from transformers.modeling_outputs import BaseModelOutput

        given: dict[str, Any] = dict(zip(self.names, tensors, strict=True))
        if "encoder_outputs" in given:
            given["encoder_outputs"] = BaseModelOutput(last_hidden_state=given["encoder_outputs"])
        if self.use_cache is not None:
            given["use_cache"] = False
        return self.run(**given)[0]


class NLPPipelineWrapper:
    """Runs the forward of a model on a separate device.

    Sequences are padded to `max_length` elements (256, or as many as the model has positions for, if these are fewer):
    one program serves all lengths up to that. Caches of keys and values are not used: each step computes the whole
    sequence.

    Args:
        model: of `transformers`; its `forward` is replaced.
        fp32_fallback: as of a TTDevice.
        forward_fn: computes logits of a tuple of tensors instead of a device.
    """

    def __init__(
        self,
        model: torch.nn.Module,
        tokenizer: Any,
        name: str = "pb_model",
        use_cache: bool | None = None,
        fp32_fallback: DataFormat = DataFormat.Float16_b,
        forward_fn: Callable[[tuple[torch.Tensor, ...]], torch.Tensor] | None = None,
        max_length: int | None = None,
    ) -> None:
        config: Any = model.config
        sizes = (getattr(config, name, None) for name in ("max_target_positions", "max_position_embeddings"))
        most = next((size for size in sizes if size), LENGTH)
        self.max_length = max_length if max_length is not None else min(LENGTH, most)
        if not isinstance(self.max_length, int) or self.max_length < 1:
            raise PyBudaError(f"model {name!r}: max_length is {max_length!r}; expected 1 or more")
        fill = tokenizer.pad_token_id if tokenizer is not None else None
        self.pad_token_id = 0 if fill is None else int(fill)
        self.model, self.forward_fn = model, forward_fn
        self.original: Callable[..., Any] = model.forward
        self.parameters = inspect.signature(model.forward).parameters
        has_cache = "use_cache" in self.parameters
        self.module = _Fixed(model, self.original, use_cache if use_cache is not None else has_cache or None)
        self.shapes: tuple[Any, ...] | None = None
        self.device: TTDevice | None = None
        if forward_fn is None:
            self.device = TTDevice(name, module=PyTorchModule(name, self.module), fp32_fallback=fp32_fallback)
        for about in (config, getattr(model, "generation_config", None)):
            if about is not None and has_cache:
                about.use_cache = False
        part: Any
        for part in model.modules():  # which read results of each other by name
            if hasattr(part, "config"):
                part.config.return_dict = True

        @functools.wraps(self.original)
        def forward(*args: Any, **kwargs: Any) -> Any:
            return self(*args, **kwargs)

        model.forward = forward

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Returns the result of the model's forward: its logits, for the given elements."""
        names = [name for name, p in self.parameters.items() if p.kind < p.VAR_POSITIONAL]
        given = {**dict(zip(names, args, strict=False)), **kwargs}
        given = {name: value for name, value in given.items() if value is not None and name not in DROPPED}
        encoded = given.get("encoder_outputs")
        if encoded is not None and not isinstance(encoded, torch.Tensor):
            given["encoder_outputs"] = encoded[0]
            given.pop("input_ids", None)
        length, given = self.padded(given)
        ordered = {name: given.pop(name) for name in self.parameters if isinstance(given.get(name), torch.Tensor)}
        if other := [name for name, value in given.items() if not isinstance(value, bool | torch.Tensor)]:
            raise PyBudaError(f"forward gets {other[0]} of {type(given[other[0]]).__name__}; expected tensors")
        logits = self.run(ordered)
        if length is not None and logits.dim() == 3 and logits.shape[1] == self.max_length:
            logits = logits[:, :length]
        return self.output(logits)

    def padded(self, given: Mapping[str, Any]) -> tuple[int | None, dict[str, Any]]:
        """Returns the length of the sequences, and the arguments with all sequences of `max_length` elements.

        Raises:
            PyBudaError: a sequence is longer.
        """
        sequences = OF_DECODER if "decoder_input_ids" in given else OF_MODEL
        found, length = dict(given), None
        for name, fill in sequences.items():
            value = given.get(name)
            if not isinstance(value, torch.Tensor) or value.dim() != 2:
                continue
            length = value.shape[1]
            if length > self.max_length:
                raise PyBudaError(
                    f"{name} has {length} elements; expected {self.max_length} at most (pybuda_max_length)"
                )
            padding = (0, self.max_length - length)
            found[name] = torch.nn.functional.pad(value, padding, value=self.pad_token_id if fill is None else fill)
        ids = found.get("input_ids")
        if sequences is OF_MODEL and ids is not None and "attention_mask" in self.parameters and length is not None:
            mask = torch.zeros_like(ids)
            mask[:, :length] = 1
            found.setdefault("attention_mask", mask)
        return length, found

    def run(self, tensors: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """Returns the logits, of the device or of `forward_fn`."""
        values = tuple(tensors.values())
        if self.forward_fn is not None:
            return self.forward_fn(values)
        shapes = tuple((name, tuple(x.shape)) for name, x in tensors.items())
        if self.shapes not in (None, shapes):
            shutdown()  # programs have fixed sizes
        self.shapes, self.module.names = shapes, [*tensors]
        assert self.device is not None
        self.device.push_to_inputs(*values)
        return run_inference(_sequential=True).get()[0].value().float()

    def output(self, logits: torch.Tensor) -> Any:
        from transformers.modeling_outputs import CausalLMOutputWithCrossAttentions, Seq2SeqLMOutput

        is_both = getattr(self.model.config, "is_encoder_decoder", False)
        return (Seq2SeqLMOutput if is_both else CausalLMOutputWithCrossAttentions)(logits=logits)

    @classmethod
    def from_pretrained(
        cls, name: str, pipeline: str, use_cache: bool | None = None, forward_fn: Any = None,
        max_length: int | None = None,
    ) -> tuple[torch.nn.Module, Any]:  # fmt: skip
        """Returns the model and the tokenizer of a pipeline, the model with its forward on a device."""
        from transformers import AutoTokenizer
        from transformers.pipelines import check_task

        _, about, _ = check_task(pipeline)
        model = about["pt"][0].from_pretrained(name)
        tokenizer = AutoTokenizer.from_pretrained(name)
        wrap(model, tokenizer, name, use_cache, forward_fn, max_length)
        return model, tokenizer


class TextToText:
    """A pipeline "text2text-generation", which transformers 5 does not have."""

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model, self.tokenizer = model, tokenizer

    def __call__(self, texts: str | list[str], **options: Any) -> list[Any]:
        """Returns {"generated_text": ...} for each sequence; for a list of texts, a list for each if there are several
        sequences.

        Args:
            options: of the model's `generate`.
        """
        given = [texts] if isinstance(texts, str) else texts
        if not given:
            return []
        tokens = self.tokenizer(given, return_tensors="pt", padding=len(given) > 1)
        tokens = {name: value for name, value in tokens.items() if name in ("input_ids", "attention_mask")}
        found = self.model.generate(**tokens, **options)
        rows = [{"generated_text": text} for text in self.tokenizer.batch_decode(found, skip_special_tokens=True)]
        each = len(rows) // len(given)
        if isinstance(texts, str) or each == 1:
            return rows
        return [rows[i : i + each] for i in range(0, len(rows), each)]


def wrap(
    model: torch.nn.Module, tokenizer: Any, name: str, use_cache: bool | None, forward_fn: Any, max_length: int | None
) -> None:
    title = name.rstrip("/").split("/")[-1].replace("-", "_")
    NLPPipelineWrapper(model, tokenizer, title, use_cache, forward_fn=forward_fn, max_length=max_length)


def pipeline(pipeline_type: str, *args: Any, **kwargs: Any) -> Any:
    """Returns `transformers.pipeline(pipeline_type, ...)` with the model's forward on a Tenstorrent device.

    Args:
        model: the name of a model, or a model, with its `tokenizer`.
        pybuda_max_length: elements that sequences are padded to.
        forward_fn, use_cache: as of `NLPPipelineWrapper`.
    Raises:
        PyBudaError: another kind of model.
        ModuleNotFoundError: the package `transformers` is not installed.
    """
    import transformers

    model = kwargs.get("model")
    forward_fn, max_length = kwargs.pop("forward_fn", None), kwargs.pop("pybuda_max_length", None)
    use_cache = kwargs.pop("use_cache", None)
    if isinstance(model, str):
        kwargs["model"], tokenizer = NLPPipelineWrapper.from_pretrained(
            model, pipeline_type, use_cache, forward_fn, max_length
        )
        kwargs.setdefault("tokenizer", tokenizer)
    elif isinstance(model, torch.nn.Module):
        wrap(model, kwargs.get("tokenizer"), type(model).__name__, use_cache, forward_fn, max_length)
    else:
        raise PyBudaError(f"pipeline: model is {type(model).__name__}; expected a name or a model of transformers")
    if pipeline_type == "text2text-generation" and pipeline_type not in transformers.pipelines.get_supported_tasks():
        return TextToText(kwargs["model"], kwargs["tokenizer"])
    make: Any = transformers.pipeline  # declared task by task
    return make(pipeline_type, *args, **kwargs)
