# SPDX-License-Identifier: Apache-2.0
"""Factors of ops, checked against values: an op computed in parts along a factor gives the parts of what it gives
whole.

Every single-device call of the op tables is split along each of its factors. The golden computes the parts. Parts along
a factor that passes are put together, those along a reduction are combined, and both must be the golden of the whole.
"""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from builder.base.builder_utils import is_tensor, torch_dtype
from builder.goldens.evaluation import Evaluation
from builder.goldens.rows import Region, find_op, golden_name
from builder.ops.attribute_values import attribute_values
from builder.ops.structure import operand_groups, public_functions
from golden import TensorSpec
from op_cases import TABLE, WITHOUT_ROW, built, clone
from ttmlir import ir
from ttmlir.passmanager import PassManager

Dims = list[list[str]]  # the factors of each dimension

# Attributes with one size for each dimension of a tensor: operands, then results.
SIZES = {"shape": -1, "ends": 0, "limit_indices": 0, "slice_sizes": 0}
# How partial results are combined; others are summed.
COMBINED: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "max": torch.maximum,
    "min": torch.minimum,
    "prod": torch.mul,
    "reduce_and": lambda a, b: ((a != 0) & (b != 0)).to(a.dtype),
    "reduce_or": lambda a, b: ((a != 0) | (b != 0)).to(a.dtype),
}
# Rows whose factors say how shardings spread, not that parts are computed alone.
SPREADING = {
    "stablehlo.custom_call": "the partitioner takes calls that need all of a dimension whole",
    "stablehlo.all_reduce": "values of other devices",
}
MOST_ELEMENTS = 1 << 18


@dataclass(frozen=True)
class Rule:
    """A sharding rule, read from its text."""

    tensors: list[Dims]
    sizes: Mapping[str, int]
    kinds: Mapping[str, str]

    @staticmethod
    def parse(text: str) -> Rule:
        found = re.fullmatch(r"[^<]*<\((.*?)\)->\((.*?)\)(?: \{(.*?)\}(.*))?>", text)
        assert found is not None, text
        operands, results, sizes, kinds = (group or "" for group in found.groups())

        def tensors(listed: str) -> list[Dims]:
            return [
                [re.findall(r"z_\d+|[i-z]", dim) for dim in tensor.split(",") if dim.strip()]
                for tensor in re.findall(r"\[(.*?)\]", listed)
            ]

        return Rule(
            tensors(operands) + tensors(results),
            {name: int(size) for name, size in re.findall(r"(z_\d+|[i-z])=(\d+)", sizes)},
            {
                name: kind
                for kind, names in re.findall(r"(\w+)=\{(.*?)\}", kinds)
                for name in re.findall(r"z_\d+|[i-z]", names)
                if kind != "blocked_propagation"
            },
        )


class NotInParts(Exception):
    """The factors of a dimension are not all of it, as those of windows are not."""


def pieces_of(
    tensor: torch.Tensor, dims: Dims, factor: str, sizes: Mapping[str, int], count: int
) -> list[torch.Tensor]:
    """The parts of a tensor along a factor; the tensor itself for each, where it lacks the factor."""
    dim = next((i for i, names in enumerate(dims) if factor in names), None)
    if dim is None:
        return [tensor] * count
    factors = [sizes[name] for name in dims[dim]]
    if torch.Size(factors).numel() != tensor.shape[dim]:
        raise NotInParts
    place = dim + dims[dim].index(factor)
    return [p.flatten(dim, dim + len(factors) - 1) for p in tensor.unflatten(dim, factors).chunk(count, place)]


def joined(parts: Sequence[torch.Tensor], dims: Dims, factor: str, sizes: Mapping[str, int]) -> torch.Tensor:
    dim = next(i for i, names in enumerate(dims) if factor in names)
    factors = [sizes[name] // (len(parts) if name == factor else 1) for name in dims[dim]]
    if torch.Size(factors).numel() != parts[0].shape[dim]:
        raise NotInParts
    views = [p.unflatten(dim, factors) for p in parts]
    return torch.cat(views, dim + dims[dim].index(factor)).flatten(dim, dim + len(factors) - 1)


def computed(op: Any, operands: Sequence[torch.Tensor], rule: Rule, factor: str, count: int) -> list[torch.Tensor]:
    """Returns goldens of the results; of operands that are parts along a factor, if `count` is above 1."""
    row = find_op(golden_name(op))
    assert row is not None
    values = dict(zip(op.operands, operands, strict=False))
    position = iter(operands)
    groups: list[Any] = []
    for group in operand_groups(op):
        if isinstance(group, list):
            groups.append([next(position) for _ in group])
        else:
            groups.append(None if group is None else next(position))
    specs = []
    for result, dims in zip(op.results, rule.tensors[len(op.operands) :], strict=True):
        type_ = ir.RankedTensorType(result.type)
        shape = [s // count if factor in dim else s for s, dim in zip(type_.shape, dims, strict=True)]
        specs.append(TensorSpec(tuple(shape), torch_dtype(type_.element_type)))
    attributes: dict[str, Any] = attribute_values(op)
    for name, tensor in SIZES.items():
        listed = attributes.get(name)
        if count > 1 and listed is not None:
            dims = rule.tensors[tensor if tensor >= 0 else len(op.operands)]
            attributes[name] = [
                s // count if factor in dim and s == torch.Size(rule.sizes[f] for f in dim).numel() else s
                for s, dim in zip(listed, dims, strict=True)
            ]
    adapt_groups(op, attributes, operands)
    attributes["out"] = specs[0] if len(specs) == 1 else specs
    if len(op.regions):
        attributes["regions"] = [Region(region, values, torch_dtype) for region in op.regions]
    results = row(*groups, **attributes)
    results = list(results) if isinstance(results, (list, tuple)) else [results]
    return [r.to(spec.dtype) for r, spec in zip(results, specs, strict=True)]


def adapt_groups(op: Any, attributes: dict[str, Any], operands: Sequence[torch.Tensor]) -> None:
    """Gives a part of a grouped convolution as many groups as it has."""
    if op.name == "stablehlo.convolution" and attributes["feature_group_count"] > 1:
        image, kernel, _ = dimension_letters(attributes)
        features = operands[0].shape[image.index("f")]
        attributes["feature_group_count"] = features // operands[1].shape[kernel.index("i")]


def dimension_letters(attributes: Mapping[str, Any]) -> list[list[str]]:
    """Returns the names of dimensions of a convolution's image, kernel and result: letters, and numbers of windows."""
    return [listed.split(", ") for listed in re.findall(r"\[(.*?)\]", str(attributes["dimension_numbers"]))]


def splits(op: Any, rule: Rule) -> list[tuple[str, int]]:
    """Factors that parts are computed along, and a number of parts: their smallest divisor.

    A factor that passes and that no result has says that shardings of the operand spread no further. So does one of a
    result alone, unless the op repeats its operands.
    """
    found = []
    operands, results = (
        {factor for dims in tensors for dim in dims for factor in dim}
        for tensors in (rule.tensors[: len(op.operands)], rule.tensors[len(op.operands) :])
    )
    if op.name.partition(".")[2] == "reshape":
        results &= operands
    windows = {f for tensor in rule.tensors for dim in tensor for f in dim if "permutation" in map(rule.kinds.get, dim)}
    if op.name == "stablehlo.convolution":
        _, kernel, _ = dimension_letters(attribute_values(op))
        windows |= {f for name, dim in zip(kernel, rule.tensors[1], strict=True) if name.isdigit() for f in dim}
    for factor, size in rule.sizes.items():
        kind = "window" if factor in windows else rule.kinds.get(factor, "")
        # Indices are positions in the whole dimension; `Local/Gather.cpp` makes them positions in a part.
        if kind == "reduction" and op.name == "stablehlo.gather":
            continue
        if size > 1 and (kind == "reduction" or (not kind and factor in results)):
            found.append((factor, next(n for n in range(2, size + 1) if size % n == 0)))
    return found


@functools.cache
def operands_of(name: str) -> list[tuple[Any, Rule, list[torch.Tensor]]]:
    """Ops of a row that have factors, with random operands."""
    produced = TABLE[name]
    module, _ = built(name, produced.dtypes[0])
    ruled = clone(module)
    with ruled.context:
        PassManager.parse("builtin.module(func.func(sdy-populate-op-sharding-rules))").run(ruled.operation)
    evaluation = Evaluation(ruled.operation, (1, 1), seed=7)
    found = []
    for function in public_functions(ruled.operation):
        for view in function.regions[0].blocks[0].operations:
            op = view.operation
            if op.name != name or "sdy.sharding_rule" not in op.attributes:
                continue
            if not all(is_tensor(value.type) for value in (*op.operands, *op.results)):
                continue
            if sum(torch.Size(ir.RankedTensorType(v.type).shape).numel() for v in op.operands) > MOST_ELEMENTS:
                continue
            values = [evaluation.value(function, value).shard_at(0) for value in op.operands]
            found.append((op, Rule.parse(str(op.attributes["sdy.sharding_rule"])), values))
    return found


def is_local(name: str) -> bool:
    row = find_op(name)
    return TABLE[name].mesh == (1, 1) and row is not None and not row.mesh and not row.updates and name not in SPREADING


ROWS = sorted(name for name in TABLE if name not in WITHOUT_ROW and is_local(name))


def check(op: Any, rule: Rule, operands: list[torch.Tensor], factor: str, count: int) -> None:
    kind = rule.kinds.get(factor, "")
    whole = computed(op, operands, rule, "", 1)
    cut = [
        pieces_of(tensor, dims, factor, rule.sizes, count) for tensor, dims in zip(operands, rule.tensors, strict=False)
    ]
    pieces = [computed(op, part, rule, factor, count) for part in zip(*cut, strict=True)]
    for number, (golden, dims) in enumerate(zip(whole, rule.tensors[len(operands) :], strict=True)):
        parts = [piece[number] for piece in pieces]
        if kind == "reduction":
            bare = op.name.partition(".")[2]
            if bare == "reduce":
                combine = Region(op.regions[0], {}, torch_dtype)
                whole_again = functools.reduce(lambda a, b: combine(a, b)[0], parts)
            else:
                whole_again = functools.reduce(COMBINED.get(bare, torch.add), parts)
                whole_again = whole_again / count if bare == "mean" else whole_again
        else:
            whole_again = joined(parts, dims, factor, rule.sizes)
        torch.testing.assert_close(
            whole_again,
            golden,
            rtol=1e-3,
            atol=1e-4,
            equal_nan=True,
            msg=lambda text: f"{op} in {count} parts along {factor} ({kind or 'passes'}): {text}",
        )


@pytest.mark.parametrize("name", ROWS)
def test_parts_are_parts_of_the_whole(name: str) -> None:
    for op, rule, operands in operands_of(name):
        for factor, count in splits(op, rule):
            with contextlib.suppress(NotInParts):
                check(op, rule, operands, factor, count)


def test_a_wrong_factor_is_found() -> None:
    """A rule that splits the dimension of a softmax."""
    op, rule, operands = operands_of("ttir.softmax")[0]
    dim = rule.tensors[0][attribute_values(op)["dimension"]]
    wrong = Rule([rule.tensors[0]] * 2, rule.sizes, {})
    with pytest.raises(AssertionError, match="in 2 parts along"):
        check(op, wrong, operands, dim[0], 2)


@pytest.mark.parametrize(("dialect", "least"), [("ttir", 135), ("stablehlo", 60)])
def test_most_rows_have_factors(dialect: str, least: int) -> None:
    rows = [name for name in ROWS if name.startswith(dialect + ".")]
    having = [name for name in rows if operands_of(name)]
    assert len(having) >= least, f"{len(having)} of {len(rows)}: none for {sorted(set(rows) - set(having))}"
