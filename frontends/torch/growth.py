# SPDX-License-Identifier: Apache-2.0
"""How large 64-bit integers get: a rule that adds or multiplies, run on magnitudes in f32, bounds its own results."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ttmlir.dialects import ttir

import torch

from .integers import MOST, magnitude
from .lowering import GROWING, Lowering, OpenFloat, OpenInt, Rule, Value

# Operands that are places: they are not part of sums.
PLACES = ("index", "indices")


def limit_result(g: Lowering, name: str, args: Any, kwargs: Mapping[str, Any]) -> None:
    """Has the program refuse 64-bit results of an op that 32 bits may not hold, where its rule can exceed its operands.

    name: of the op. args, kwargs: what its rule got.
    """
    rule = GROWING.get(name)
    if rule is None or not g.is_wide() or magnitude(g.node) < MOST:
        return
    fake = g.fake
    g.fake = torch.empty_like(fake, dtype=torch.float32)
    try:
        result = bounds(g, rule, args, kwargs)
    finally:
        g.fake = fake
    if result is not None:
        g.limit(result, f"{g.node.name}, a result of int64")


def bounds(g: Lowering, rule: Rule, args: Any, kwargs: Mapping[str, Any]) -> Value | None:
    """Returns magnitudes of results, in f32; None where the rule says that they do not grow."""
    signature = inspect.signature(rule)
    call = signature.bind(g, *args, **kwargs)
    for name, given in list(call.arguments.items())[1:]:
        if name not in PLACES:
            is_number = "Number" in str(signature.parameters[name].annotation)
            call.arguments[name] = as_magnitudes(g, given, is_number)
    result = rule(*call.args, **call.kwargs)
    assert result is None or isinstance(result, Value)
    return result


def as_magnitudes(g: Lowering, given: Any, is_number: bool) -> Any:
    """Returns an argument for a rule that gets magnitudes. is_number: numbers are values, and no dimensions or
    sizes."""
    if isinstance(given, Value):
        return g.call(ttir.abs, g.cast(given, torch.float32))
    if isinstance(given, list | tuple):
        return type(given)(as_magnitudes(g, x, is_number) for x in given)
    if isinstance(given, Mapping):
        return {name: as_magnitudes(g, x, is_number) for name, x in given.items()}
    if given is torch.int64:
        return torch.float32
    if isinstance(given, OpenInt | OpenFloat) and given >= 0:
        return given
    return abs(given) if is_number and isinstance(given, int | float) else given
