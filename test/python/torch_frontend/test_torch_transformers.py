# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own layers of transformers in eval mode, which it has as one op each: the numbers of that op, with nothing
left to PyTorch."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
import ttmlir.torch
from compiled import assert_agree, on_chip
from torch import nn
from ttmlir.torch.report import record

LENGTH, BATCH = 13, 3


def padding(*lengths: int) -> torch.Tensor:
    return torch.arange(LENGTH) >= torch.tensor(lengths)[:, None]


LATER = torch.ones(LENGTH, LENGTH).triu(1).bool()
# What a layer does not see. A sequence without keys is NaN for PyTorch's op.
MASKS: dict[str, dict[str, Any]] = {
    "none": {},
    "padding": {"src_key_padding_mask": padding(13, 10, 5)},
    "a sequence of padding": {"src_key_padding_mask": padding(13, 0, 5)},
    "later ones": {"src_mask": LATER},
    "added": {"src_mask": nn.Transformer.generate_square_subsequent_mask(LENGTH), "is_causal": True},
    "both": {"src_mask": LATER, "src_key_padding_mask": padding(13, 10, 5)},
    "of heads": {"src_mask": torch.arange(BATCH * 4 * LENGTH**2).reshape(-1, LENGTH, LENGTH) % 5 == 1},
    "queries without keys": {"src_mask": torch.arange(LENGTH)[:, None].expand(-1, LENGTH) % 4 == 1},
}


def layer(**options: Any) -> nn.Module:
    torch.manual_seed(0)
    return nn.TransformerEncoderLayer(64, 4, 128, batch_first=True, **options).eval()


def agree_on_chip(model: nn.Module, *arguments: torch.Tensor, **options: Any) -> None:
    """The results agree, NaN in the same places, and PyTorch ran no op."""
    with torch.no_grad(), record() as reports:
        assert_agree(on_chip(model)(*arguments, **options), model(*arguments, **options))
    assert len(reports) == 1 and not reports[0].on_host, [r.on_host for r in reports]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize(("norm_first", "activation"), itertools.product([False, True], ["relu", "gelu"]))
def test_layers(norm_first: bool, activation: str, dtype: torch.dtype) -> None:
    model = layer(norm_first=norm_first, activation=activation).to(dtype)
    agree_on_chip(model, torch.randn(BATCH, LENGTH, 64, dtype=dtype))


@pytest.mark.parametrize("name", MASKS)
def test_masks(name: str) -> None:
    agree_on_chip(layer(), torch.randn(BATCH, LENGTH, 64), **MASKS[name])


@pytest.mark.parametrize(("need", "average"), [(True, True), (True, False), (False, True)])
def test_attention(need: bool, average: bool) -> None:
    torch.manual_seed(0)
    model, x = nn.MultiheadAttention(64, 4, batch_first=True).eval(), torch.randn(BATCH, LENGTH, 64)
    options = {"need_weights": need, "average_attn_weights": average}
    agree_on_chip(model, x, x, x, **options)
    agree_on_chip(model, x, x, x, key_padding_mask=padding(13, 10, 5), attn_mask=LATER, **options)


class Direct(nn.Module):
    """The op of attention, which PyTorch's graphs of `nn.MultiheadAttention` have or not, by what they are made for."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.attention = nn.MultiheadAttention(64, 4).eval()

    def forward(self, *given: torch.Tensor, masks: tuple[Any, ...] = (None, True, True, None)) -> Any:
        inside = self.attention
        weights = (inside.in_proj_weight, inside.in_proj_bias, inside.out_proj.weight, inside.out_proj.bias)
        result, shares = torch._native_multi_head_attention(*given, 64, 4, *weights, *masks)
        return (result, shares) if masks[1] else result


OP_MASKS = {
    "none": (None, None),
    "queries": (torch.arange(LENGTH)[:, None].expand(-1, LENGTH) % 4 == 1, 0),
    "keys": (padding(13, 0, 5), 1),
    "scores": (torch.arange(BATCH * 4 * LENGTH**2).reshape(BATCH, 4, LENGTH, LENGTH) % 5 == 1, 2),
}


@pytest.mark.parametrize(("need", "average"), [(True, True), (True, False), (False, True)])
@pytest.mark.parametrize("name", OP_MASKS)
def test_ops_of_attention(name: str, need: bool, average: bool) -> None:
    """Queries without keys are NaN."""
    x, (mask, kind) = torch.randn(BATCH, LENGTH, 64), OP_MASKS[name]
    agree_on_chip(Direct(), x, x, x, masks=(mask, need, average, kind))


def test_ops_of_different_tensors() -> None:
    agree_on_chip(Direct(), *(torch.randn(BATCH, LENGTH, 64) for _ in range(3)))


def test_masked_softmax() -> None:
    x = torch.randn(BATCH, 4, LENGTH, LENGTH)

    class Masked(nn.Module):
        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
            whole = (x > 0.3) & (x < 2)
            return (
                torch._masked_softmax(x, LATER, 3, 0),
                torch._masked_softmax(x, padding(13, 0, 5), 3, 1),
                torch._masked_softmax(x, whole, 3, 2),
            )

    agree_on_chip(Masked(), x)


def test_encoders_of_any_length() -> None:
    """One program for all batches and lengths; padding, too. PyTorch's graphs have no nested tensors of padding."""
    model = nn.TransformerEncoder(layer(), 2, enable_nested_tensor=False).eval()
    compiled = on_chip(model, dynamic=True)
    with torch.no_grad(), record() as reports:
        for batch, length in ((2, 13), (3, 40), (7, 5), (4, 128)):
            x = torch.randn(batch, length, 64)
            mask = torch.arange(length) >= torch.arange(length, length - batch, -1)[:, None]
            assert_agree(compiled(x), model(x))
            assert_agree(compiled(x, src_key_padding_mask=mask), model(x, src_key_padding_mask=mask))
    assert [bool(r.open) for r in reports] == [True, True], [(r.open, r.closed) for r in reports]
    assert not any(r.on_host for r in reports)


def test_nested_tensors_of_padding() -> None:
    """`TransformerEncoder` makes nested tensors of padding only where nothing is compiled: results agree elsewhere."""
    model = nn.TransformerEncoder(layer(), 2).eval()
    x, mask = torch.randn(BATCH, LENGTH, 64), padding(13, 10, 5)
    with torch.no_grad(), record() as reports:
        ours, theirs = on_chip(model)(x, src_key_padding_mask=mask), model(x, src_key_padding_mask=mask)
    assert_agree(ours[~mask], theirs[~mask])
    assert not theirs[mask].any() and not reports[0].on_host


def test_exported_layers() -> None:
    model, x = layer(norm_first=True), torch.randn(BATCH, LENGTH, 64)
    dimensions = {"src": {0: torch.export.Dim("batch", min=2, max=64), 1: torch.export.Dim("length", min=2, max=512)}}
    with torch.no_grad():
        compiled = ttmlir.torch.compile(model, (x,), dynamic_shapes=dimensions)
        assert compiled.closed == ""
        for batch, length in ((3, 13), (5, 77)):
            x = torch.randn(batch, length, 64)
            assert_agree(compiled(x), model(x))


def test_nan_in_a_mask_is_not_a_masked_row() -> None:
    query, keys = torch.rand(1, 1, 4, 32), torch.rand(1, 1, 17, 32)
    mask = torch.zeros(1, 1, 4, 17)
    mask[0, 0, 0, 5] = torch.nan
    mask[0, 0, 1] = -torch.inf
    attend = torch.nn.functional.scaled_dot_product_attention
    found = torch.compile(attend, backend="tt")(query, keys, keys, attn_mask=mask)
    torch.testing.assert_close(found, attend(query, keys, keys, attn_mask=mask), equal_nan=True, rtol=1e-5, atol=1e-5)
