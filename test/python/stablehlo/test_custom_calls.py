# SPDX-License-Identifier: Apache-2.0
"""Custom calls `tt.NAME` of PyTorch/XLA on the chip, compared with PyTorch."""

from __future__ import annotations

import pytest
import torch
from test_expansions import run, type_of
from ttmlir.ir import MLIRError


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def call(name: str, operands: dict[str, torch.Tensor], result: str, attributes: dict[str, str]) -> str:
    given = ", ".join(f'{key} = "{value}"' for key, value in attributes.items())
    names = ", ".join(f"%{operand}" for operand in operands)
    types = ", ".join(type_of(x) for x in operands.values())
    return (
        f"%r0 = stablehlo.custom_call @tt.{name}({names}) {{mhlo.frontend_attributes = {{{given}}}}} "
        f": ({types}) -> {result}"
    )


def called(name: str, operands: dict[str, torch.Tensor], like: torch.Tensor, **attributes: str) -> torch.Tensor:
    result = type_of(like)
    (found,) = run(call(name, operands, result, attributes), operands, [result])
    return found


Q, K, V = randn(2, 4, 8, 16), randn(2, 4, 8, 16, seed=1), randn(2, 4, 8, 16, seed=2)
MASK = torch.where(randn(2, 1, 8, 8, seed=3) > 0.5, -1e9, 0.0)


@pytest.mark.parametrize("causal", ["true", "False"])
def test_attention(causal: str) -> None:
    found = called("scaled_dot_product_attention", {"q": Q, "k": K, "v": V}, Q, is_causal=causal, scale="0.5")
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=causal == "true", scale=0.5)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("said", [{}, {"has_attention_mask": "true"}])
def test_attention_with_a_mask(said: dict[str, str]) -> None:
    """The fourth operand is the mask, also where nothing says so."""
    operands = {"q": Q, "k": K, "v": V, "m": MASK}
    found = called("scaled_dot_product_attention", operands, Q, is_causal="false", **said)
    expected = torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=MASK)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_attention_over_a_cache() -> None:
    """One position of each user attends to those up to its own."""
    query, positions = randn(1, 2, 4, 16), torch.tensor([3, 6], dtype=torch.int32)
    keys, values = randn(2, 4, 8, 16, seed=1), randn(2, 4, 8, 16, seed=2)
    found = called(
        "scaled_dot_product_attention_decode", {"q": query, "k": keys, "v": values, "p": positions}, query,
        has_attention_mask="false", has_attention_sink="false",
    )  # fmt: skip
    for user, last in enumerate(positions.tolist()):
        expected = torch.nn.functional.scaled_dot_product_attention(
            query[0, user, :, None], keys[user, :, : last + 1], values[user, :, : last + 1]
        )
        torch.testing.assert_close(found[0, user], expected[:, 0], rtol=1e-4, atol=1e-4)


def test_a_cache_is_filled_and_updated() -> None:
    cache, first = torch.zeros(2, 4, 8, 16), randn(1, 4, 3, 16)
    filled = called("fill_cache", {"c": cache, "x": first}, cache, batch_offset="1")
    expected = cache.clone()
    expected[1, :, :3] = first[0]
    assert torch.equal(filled, expected)
    step, position = randn(1, 4, 2, 16, seed=1), torch.tensor([5], dtype=torch.int32)
    updated = called("update_cache", {"c": cache, "x": step, "i": position}, cache, batch_offset="0")
    expected = cache.clone()
    expected[:, :, 5] = step[0].permute(1, 0, 2)
    assert torch.equal(updated, expected)


LATENT_Q, LATENT_K = randn(2, 4, 6, 24), randn(2, 2, 6, 24, seed=1)
LATENT_MASK = randn(2, 1, 6, 6, seed=2)


@pytest.mark.parametrize("causal", [True, False])
@pytest.mark.parametrize("masked", [True, False])
@pytest.mark.parametrize("valued", [True, False])
def test_attention_to_latent_keys(causal: bool, masked: bool, valued: bool) -> None:
    operands = {"q": LATENT_Q, "k": LATENT_K}
    value = randn(2, 2, 6, 16, seed=3) if valued else LATENT_K[..., :16]
    operands |= {"v": value} if valued else {}
    operands |= {"m": LATENT_MASK} if masked else {}
    flags = {"has_value": str(valued).lower(), "has_attention_mask": str(masked).lower()}
    flags |= {"head_dim_v": "16", "is_causal": str(causal), "scale": "0.25"}
    found = called("flash_mla_prefill", operands, LATENT_Q[..., :16], **flags)
    keys, values = (x.repeat_interleave(2, dim=1) for x in (LATENT_K, value))
    mask = torch.zeros(6, 6) + (LATENT_MASK if masked else 0)
    if causal:
        mask = mask.masked_fill(torch.arange(6)[None] > torch.arange(6)[:, None], -torch.inf)
    expected = torch.nn.functional.scaled_dot_product_attention(LATENT_Q, keys, values, attn_mask=mask, scale=0.25)
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("start", [None, 0, 3, 20])
def test_scores_of_an_indexer(start: int | None) -> None:
    query, key, weights = randn(2, 4, 5, 8), randn(2, 1, 9, 8, seed=1), randn(2, 4, 5, 1, seed=2)
    given = {} if start is None else {"chunk_start_idx": str(start)}
    found = called("indexer_score_dsa", {"q": query, "k": key, "w": weights}, torch.empty(2, 1, 5, 9), **given)
    expected = (torch.relu(query @ key.transpose(2, 3)) * weights).sum(1, keepdim=True)
    for row in range(5):
        expected[:, :, row, row + 1 + (start or 0) :] = -torch.inf
    torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)


X = randn(1, 4, 3, 16)
WRONG = {
    "fill_cache": [
        ({"c": Q, "x": X}, {}, "tt.fill_cache: has no batch_offset in mhlo.frontend_attributes; expected an integer"),
        ({"c": Q, "x": X}, {"batch_offset": "one"}, "batch_offset is 'one'; expected an integer of 32 bits"),
        ({"c": Q}, {"batch_offset": "0"}, "has 1 operands; expected input as another"),
        ({"c": Q, "x": X, "y": X}, {"batch_offset": "0"}, "has 3 operands; expected 2"),
    ],
    "scaled_dot_product_attention": [
        ({"q": Q, "k": K, "v": V}, {"is_causal": "maybe"}, "is_causal is 'maybe'; expected true or false"),
        ({"q": Q, "k": K, "v": V}, {"scale": "half"}, "scale is 'half'; expected a number"),
        (
            {"q": Q, "k": K, "v": V},
            {"has_attention_mask": "true"},
            "has 3 operands; expected attention_mask as another",
        ),
        (
            {"q": Q, "k": K, "v": V, "m": MASK},
            {"has_attention_mask": "false"},
            "has 4 operands; expected 3, as its attributes say",
        ),
    ],
    "flash_mla_prefill": [
        ({"q": Q, "k": K}, {}, "has no head_dim_v in mhlo.frontend_attributes; expected an integer"),
        ({"q": Q, "k": K}, {"head_dim_v": "17"}, "head_dim_v is 17; expected 1 to 16"),
        ({"q": Q, "k": K}, {"head_dim_v": "8"}, "the result has shape 2x4x8x16; expected 2x4x8x8"),
        (
            {"q": Q, "k": K, "m": MASK[..., :7]},
            {"head_dim_v": "16", "has_attention_mask": "true"},
            "the mask has shape 2x1x8x7; expected it to end with 8x8",
        ),
    ],
    "indexer_score_dsa": [
        ({"q": Q, "k": K, "w": V}, {}, "key has shape 2x4x8x16; expected 2x1x8x16 of the elements of the query"),
        ({"q": Q, "k": K[:, :1], "w": V}, {}, "weights have shape 2x4x8x16; expected 2x4x8x1"),
        ({"q": Q, "k": K[:, :1], "w": V[..., :1]}, {}, "the result has shape 2x4x8x16; expected 2x1x8x8"),
    ],
    "unheard_of": [({"q": Q}, {}, "no custom call 'tt.unheard_of' is known")],
}


@pytest.mark.parametrize(("name", "index"), [(name, i) for name, cases in WRONG.items() for i in range(len(cases))])
def test_error_names_the_cause(name: str, index: int) -> None:
    operands, attributes, message = WRONG[name][index]
    with pytest.raises(MLIRError, match=message):
        run(call(name, operands, type_of(Q), attributes), operands, [type_of(Q)])


def test_a_cache_that_others_use_is_not_written() -> None:
    cache = torch.zeros(2, 4, 8, 16)
    text = call("fill_cache", {"c": cache, "x": X}, type_of(cache), {"batch_offset": "0"})
    text += f"\n%r1 = stablehlo.add %c, %c : {type_of(cache)}"
    with pytest.raises(MLIRError, match="writes its first operand in place, which others use, too"):
        run(text, {"c": cache, "x": X}, [type_of(cache)] * 2)
