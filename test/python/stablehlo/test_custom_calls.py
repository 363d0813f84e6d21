# SPDX-License-Identifier: Apache-2.0
"""Custom calls `tt.NAME` of PyTorch/XLA on the chip, beside PyTorch."""

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
    wanted = torch.nn.functional.scaled_dot_product_attention(Q, K, V, is_causal=causal == "true", scale=0.5)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("said", [{}, {"has_attention_mask": "true"}])
def test_attention_with_a_mask(said: dict[str, str]) -> None:
    """The fourth operand is the mask, also where nothing says so."""
    operands = {"q": Q, "k": K, "v": V, "m": MASK}
    found = called("scaled_dot_product_attention", operands, Q, is_causal="false", **said)
    wanted = torch.nn.functional.scaled_dot_product_attention(Q, K, V, attn_mask=MASK)
    torch.testing.assert_close(found, wanted, rtol=1e-4, atol=1e-4)


def test_attention_over_a_cache() -> None:
    """One position of each user attends to those up to its own."""
    query, positions = randn(1, 2, 4, 16), torch.tensor([3, 6], dtype=torch.int32)
    keys, values = randn(2, 4, 8, 16, seed=1), randn(2, 4, 8, 16, seed=2)
    found = called(
        "scaled_dot_product_attention_decode", {"q": query, "k": keys, "v": values, "p": positions}, query,
        has_attention_mask="false", has_attention_sink="false",
    )  # fmt: skip
    for user, last in enumerate(positions.tolist()):
        wanted = torch.nn.functional.scaled_dot_product_attention(
            query[0, user, :, None], keys[user, :, : last + 1], values[user, :, : last + 1]
        )
        torch.testing.assert_close(found[0, user], wanted[:, 0], rtol=1e-4, atol=1e-4)


def test_a_cache_is_filled_and_updated() -> None:
    cache, first = torch.zeros(2, 4, 8, 16), randn(1, 4, 3, 16)
    filled = called("fill_cache", {"c": cache, "x": first}, cache, batch_offset="1")
    wanted = cache.clone()
    wanted[1, :, :3] = first[0]
    assert torch.equal(filled, wanted)
    step, position = randn(1, 4, 2, 16, seed=1), torch.tensor([5], dtype=torch.int32)
    updated = called("update_cache", {"c": cache, "x": step, "i": position}, cache, batch_offset="0")
    wanted = cache.clone()
    wanted[:, :, 5] = step[0].permute(1, 0, 2)
    assert torch.equal(updated, wanted)


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
    "unheard_of": [({"q": Q}, {}, "no custom call 'tt.unheard_of' is known")],
}


@pytest.mark.parametrize(("name", "index"), [(name, i) for name, cases in WRONG.items() for i in range(len(cases))])
def test_what_is_wrong_is_named(name: str, index: int) -> None:
    operands, attributes, message = WRONG[name][index]
    with pytest.raises(MLIRError, match=message):
        run(call(name, operands, type_of(Q), attributes), operands, [type_of(Q)])


def test_a_cache_that_others_use_is_not_written() -> None:
    cache = torch.zeros(2, 4, 8, 16)
    text = call("fill_cache", {"c": cache, "x": X}, type_of(cache), {"batch_offset": "0"})
    text += f"\n%r1 = stablehlo.add %c, %c : {type_of(cache)}"
    with pytest.raises(MLIRError, match="writes its first operand in place, which others use, too"):
        run(text, {"c": cache, "x": X}, [type_of(cache)] * 2)
