# SPDX-License-Identifier: Apache-2.0
"""Files of PyTorch's exporters: the old one at opset 17, and the new one at its default opset and at 23."""

from __future__ import annotations

import contextlib
import functools
import io
import logging
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest
import torch
import torch_zoo
import ttmlir.onnx as tt
from onnx_zoo.models import ARCHITECTURES, architecture
from torch import nn

functional = nn.functional
OLD, NEW, NEWEST = "old exporter, opset 17", "new exporter", "new exporter, opset 23"


@pytest.fixture(autouse=True, scope="module")
def one_table() -> Iterator[None]:
    """Makes the exporter's table of translations once per opset, and lists PyTorch's composite ops once.

    PyTorch does so at each export, and takes half a second.
    """
    from torch._export import utils
    from torch.onnx._internal.exporter._registration import ONNXRegistry

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ONNXRegistry, "from_torchlib", staticmethod(functools.cache(ONNXRegistry.from_torchlib)))
        patch.setattr(utils, "_materialize_cpp_cia_ops", functools.cache(utils._materialize_cpp_cia_ops))
        yield


class Of(nn.Module):
    """A function of one tensor, with a module where it has weights."""

    def __init__(self, function: Callable[..., Any], *modules: nn.Module) -> None:
        super().__init__()
        self.function, self.inner = function, nn.ModuleList(modules)

    def forward(self, x: torch.Tensor) -> Any:
        return self.function(x, *self.inner)


def images(channels: int = 3, size: int = 16) -> torch.Tensor:
    return torch.randn(2, channels, size, size)


def words(size: int = 16) -> torch.Tensor:
    return torch.randn(2, 6, size)


# Name -> module and input; dimension 0 is the batch, and stays open.
MODULES: dict[str, tuple[Callable[[], nn.Module], Callable[[], torch.Tensor]]] = {
    "lstm": (lambda: Of(lambda x, m: m(x)[0], nn.LSTM(16, 8, 2, batch_first=True, bidirectional=True)), words),
    "gru": (lambda: Of(lambda x, m: m(x)[0], nn.GRU(16, 8, batch_first=True)), words),
    "rnn": (lambda: Of(lambda x, m: m(x)[0], nn.RNN(16, 8, batch_first=True)), words),
    "multi-head attention": (
        lambda: Of(lambda x, m: m(x, x, x, need_weights=False)[0], nn.MultiheadAttention(16, 4, batch_first=True)),
        words,
    ),
    "encoder layer": (
        lambda: Of(lambda x, m: m(x, torch.zeros(6, 6)), nn.TransformerEncoderLayer(16, 4, 32, batch_first=True)),
        words,
    ),
    "scaled dot product": (
        lambda: Of(lambda x: functional.scaled_dot_product_attention(x, x, x, torch.ones(6, 6).tril().log())),
        lambda: torch.randn(2, 4, 6, 8),
    ),
    "group norm and silu": (lambda: nn.Sequential(nn.GroupNorm(2, 4), nn.SiLU()), lambda: images(4)),
    "instance norm": (lambda: nn.InstanceNorm2d(3, affine=True), images),
    "layer norm and gelu": (lambda: nn.Sequential(nn.LayerNorm(16), nn.GELU(), nn.GELU("tanh")), words),
    "transposed convolution": (lambda: nn.ConvTranspose2d(3, 4, 3, 2, 1, output_padding=1), images),
    "convolutions in groups": (lambda: nn.Conv2d(4, 8, 3, dilation=2, groups=2, padding="same"), lambda: images(4)),
    "convolution of volumes": (lambda: nn.Conv3d(2, 4, 3, padding=1), lambda: torch.randn(2, 2, 6, 6, 6)),
    "convolution of rows": (lambda: nn.Conv1d(6, 8, 3, padding=1), words),
    "pools of volumes": (
        lambda: nn.Sequential(nn.MaxPool3d((2, 3, 2), (1, 2, 1), 1), nn.AvgPool3d(2)),
        lambda: torch.randn(2, 3, 6, 8, 7),
    ),
    "pools": (lambda: nn.Sequential(nn.MaxPool2d(3, 2, 1), nn.AvgPool2d(2, ceil_mode=True)), images),
    "adaptive pool": (lambda: nn.AdaptiveAvgPool2d((4, 2)), images),
    "bilinear": (lambda: nn.Upsample(scale_factor=2, mode="bilinear", align_corners=False), images),
    "nearest": (lambda: nn.Upsample(scale_factor=2, mode="nearest"), images),
    "pixel shuffle": (lambda: nn.PixelShuffle(2), lambda: images(8)),
    "reflected pad": (lambda: nn.ReflectionPad2d(2), images),
    "einsum": (lambda: Of(lambda x: torch.einsum("bij,bkj->bik", x, x)), words),
    "top values": (lambda: Of(lambda x: torch.topk(x, 3, -1).values), words),
    "sums along": (lambda: Of(lambda x: torch.cumsum(x, 1) + x.cumsum(2)), words),
    "masks": (lambda: Of(lambda x: torch.where(x > 0, x, x.masked_fill(x < -1, -1.0)).tril()), words),
    "rotated": (
        lambda: Of(lambda x: torch.cat([-x[..., 8:], x[..., :8]], -1) * torch.arange(6).cos()[None, :, None]), words
    ),
    "statistics": (lambda: Of(lambda x: torch.stack([x.mean(1), x.std(1), x.amax(1), x.logsumexp(1)], 1)), words),
    "shapes": (lambda: Of(lambda x: x.reshape(x.shape[0], -1).unsqueeze(1).expand(-1, 3, -1).flatten(1)), words),
}  # fmt: skip


class Positional(nn.Module):
    """A model of the zoo with its first tensor as the output."""

    def __init__(self, model: nn.Module, names: list[str]) -> None:
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *args: torch.Tensor) -> torch.Tensor:
        result = self.model(**dict(zip(self.names, args, strict=True)))
        return next(x for x in torch.utils._pytree.tree_leaves(result) if isinstance(x, torch.Tensor))


Dims = list[dict[int, str]]  # names of open dimensions, of each input


def open_dims_of(args: tuple[torch.Tensor, ...]) -> Dims:
    return [{0: "batch", **({1: "length"} if x.dtype is torch.int64 else {})} for x in args]


def export(module: nn.Module, args: tuple[torch.Tensor, ...], exporter: str, open_dims: Dims | None, path: str) -> None:
    names = [f"in{i}" for i in range(len(args))]
    logging.disable(logging.CRITICAL)
    said = io.StringIO()
    try:
        with warnings.catch_warnings(), contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            warnings.simplefilter("ignore")
            if exporter == OLD:
                axes = dict(zip(names, open_dims, strict=True)) if open_dims else None
                torch.onnx.export(
                    module, args, path, dynamo=False, opset_version=17, input_names=names, dynamic_axes=axes
                )
                return
            dynamic: Any = None
            if open_dims:
                kinds = [dict.fromkeys(dims, torch.export.Dim.DYNAMIC) for dims in open_dims]
                dynamic = (tuple(kinds),) if isinstance(module, Positional) else tuple(kinds)
            version: Any = {"opset_version": 23} if exporter == NEWEST else {}
            torch.onnx.export(module, args, path, dynamo=True, dynamic_shapes=dynamic, verbose=False, **version)
    finally:
        logging.disable(logging.NOTSET)


def agrees(
    module: nn.Module, args: tuple[torch.Tensor, ...], exporter: str, open_dims: Dims | None, shorter: int = 11
) -> tt.OnnxModel:
    """Exports a module and compares results; other sizes, too, where they are open: shorter, of lengths."""
    export(module, args, exporter, open_dims, "net.onnx")
    model = tt.compile("net.onnx")
    calls = [args]
    if open_dims:
        calls += [tuple(torch.cat([x, x[:1]]) for x in args), tuple(torch.cat([x, x, x]) for x in args)]
        if any(1 in dims for dims in open_dims):
            each = zip(args, open_dims, strict=True)
            calls += [tuple(x[:, :shorter] if 1 in dims else x for x, dims in each)]
    for call in calls:
        with torch.no_grad():
            expected = module(*call)
        found = model(*call)
        found = found[0] if isinstance(found, tuple) else found
        assert found.shape == expected.shape and found.dtype is expected.dtype
        span = float(expected.max() - expected.min())
        torch.testing.assert_close(found, expected, rtol=0, atol=1e-4 * span)
    return model


# Opset 23 has ops of its own for these (Attention, RMSNormalization, RotaryEmbedding) or new versions of theirs. All
# other modules get the ops of the default opset.
OF_OPSET_23 = {"multi-head attention", "encoder layer", "scaled dot product", "rotated", "layer norm and gelu",
               "group norm and silu", "pools", "bilinear", "masks"}  # fmt: skip


def module_cases() -> Iterator[Any]:
    for name in MODULES:
        for exporter in (OLD, NEW, NEWEST):
            slow = [pytest.mark.slow] if exporter == NEWEST and name not in OF_OPSET_23 else []
            yield pytest.param(name, exporter, id=f"{name}-{exporter}", marks=[pytest.mark.long, *slow])


@pytest.mark.parametrize(("name", "exporter"), list(module_cases()))
def test_modules(name: str, exporter: str) -> None:
    torch.manual_seed(0)
    make, given = MODULES[name]
    args = (given(),)
    model = agrees(make().eval(), args, exporter, open_dims_of(args))
    assert model.closed == "" and len(model.open_sizes) == 1


# The old exporter lacks aten::diff, the new one does not decompose Beit; its Attention has as many heads of keys as of
# queries.
CANNOT = {("GPT-2", OLD), ("Llama", OLD), ("Falcon", NEWEST)} | {
    (f"microsoft/beit-{size}-patch16-224", exporter) for size in ("base", "large") for exporter in (NEW, NEWEST)
}


# Rows that differ in sizes or in training only are one graph when small and exported for inference.
GRAPHS = {row.architecture: name for name, row in reversed(torch_zoo.MODELS.items())}


def model_cases() -> Iterator[Any]:
    """Each graph runs with open sizes of one exporter, and static of another, by turns; --slow runs all models.

    Exporters that cannot write a graph run as well: they fail.
    """
    for place, name in enumerate(torch_zoo.names()):
        is_first = GRAPHS[torch_zoo.MODELS[name].architecture] == name
        able = [exporter for exporter in (OLD, NEW, NEWEST) if (name, exporter) not in CANNOT]
        static, opened = able[place % len(able)], able[(place + 1) % len(able)]
        for exporter in (OLD, NEW, NEWEST):
            for is_open in (False, True):
                runs = exporter == (opened if is_open else static) or (is_open and exporter not in able)
                marks = [pytest.mark.long] if runs and is_first else [pytest.mark.slow]
                kind = "open" if is_open else "static"
                yield pytest.param(name, exporter, is_open, id=f"{name}-{exporter}-{kind}", marks=marks)


# By names of settings. Where sizes are open, the new exporter takes a second for each layer, and layers are alike;
# static models have two.
ONE_LAYER = {"num_hidden_layers": 1, "n_layer": 1, "n_layers": 1}


@pytest.mark.parametrize(("name", "exporter", "is_open"), list(model_cases()))
def test_the_nineteen_models(name: str, exporter: str, is_open: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    row = torch_zoo.MODELS[name]
    if is_open and exporter != OLD and row.architecture != "AlbertForMaskedLM":  # its layers share their weights
        small = {key: ONE_LAYER.get(key, value) for key, value in row.small.items()}
        monkeypatch.setitem(torch_zoo.MODELS, name, replace(row, small=small))
    torch.manual_seed(0)
    result, inputs = torch_zoo.make(name, small=True)
    if hasattr(result, "config"):
        result.config.use_cache = False
    module, args = Positional(result, list(inputs)).eval(), tuple(inputs.values())
    open_dims = open_dims_of(args) if is_open else None
    if (name, exporter) in CANNOT:
        with pytest.raises((torch.onnx.errors.OnnxExporterError, torch.onnx.errors.UnsupportedOperatorError)):
            export(module, args, exporter, open_dims, "net.onnx")
        return
    model = agrees(module, args, exporter, open_dims)
    assert model.closed == "" and bool(model.open_sizes) == is_open


# The exporter gives the batches of both inputs names of their own, which only work if they are equal.
TWO_BATCHES = {"Whisper"}


# One of a kind: of words with caches and with relative places, of sound with a decoder and with convolutions, of
# images. The exporter takes two to three times as long where sizes are open, up to 15 s.
OPEN_ARCHITECTURES = {"Qwen3", "XLNet", "Whisper", "Wav2Vec2", "EfficientNet"}


def architecture_cases() -> Iterator[Any]:
    """Each architecture runs in one of both ways; --slow runs both."""
    for name in ARCHITECTURES:
        for is_open in (False, True):
            marks = [pytest.mark.long] if is_open == (name in OPEN_ARCHITECTURES) else [pytest.mark.slow]
            yield pytest.param(name, is_open, id=f"{name}-{'open' if is_open else 'static'}", marks=marks)


@pytest.mark.parametrize(("name", "is_open"), list(architecture_cases()))
def test_twenty_others_at_opset_23(name: str, is_open: bool) -> None:
    model, args = architecture(name, one_layer=is_open)
    row = ARCHITECTURES[name]
    dims: Dims = [{0: "batch", **({1: "length"} if x in row.lengths else {})} for x in row.inputs]
    result = agrees(Positional(model, list(row.inputs)), args, NEWEST, dims if is_open else None, shorter=5)
    if is_open and name in TWO_BATCHES:
        assert "does not divide" in result.closed
    else:
        assert result.closed == "" and bool(result.open_sizes) == is_open
