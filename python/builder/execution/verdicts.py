# SPDX-License-Identifier: Apache-2.0
"""Acceptance criteria: which results count as equal to a golden."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from golden import Comparison, GoldenMapTensor, compare
from golden.optional import torch

from builder.base.errors import TTBuilderGoldenException
from builder.goldens.evaluation import Producer

from .argument_checks import check_number, checked_arguments, described
from .report import Record

# dtype of a golden -> dtypes that the device may answer with; a bool travels as whatever holds 0 and 1.
ANSWERS: dict[str, tuple[str, ...]] = {
    "float64": ("float32",),
    "int64": ("int32",),
    "int16": ("int32",),
    "int8": ("int32",),
    "uint64": ("uint32",),
    "bool": ("bool", "uint8", "bfloat16", "float32", "int32", "uint32", "uint16"),
}


@dataclass(frozen=True)
class Verdict:
    """The tolerance of a comparison; atol and rtol default to those of the golden's dtype (see golden.metrics)."""

    pcc: float = 0.99
    atol: float | None = None
    rtol: float | None = None
    check_pcc: bool = True
    check_atol: bool = False
    check_rtol: bool = False

    def __post_init__(self) -> None:
        """
        Raises:
            TypeError, ValueError: names what cannot be compared with.
        """
        check_number("pcc", self.pcc, -1, 1)
        for name in ("atol", "rtol"):
            if getattr(self, name) is not None:
                check_number(name, getattr(self, name), 0)
        for name in ("check_pcc", "check_atol", "check_rtol"):
            if not isinstance(getattr(self, name), (bool, np.bool_)):
                raise TypeError(f"{name} is {described(getattr(self, name))}; expected True or False")

    def compare(
        self, golden: torch.Tensor, found: torch.Tensor, precision: torch.dtype | None = None, noise: float = 0.0
    ) -> Comparison:
        """Compares with the tolerances that are to be checked; another counts as 0 compared with it. Others: see
        `golden.compare`."""
        atol, rtol = self.atol, self.rtol
        if self.check_atol != self.check_rtol:
            atol, rtol = atol if self.check_atol else 0.0, rtol if self.check_rtol else 0.0
        return compare(golden, found, atol, rtol, precision, noise, (self.atol, self.rtol))

    def accepts(self, comparison: Comparison) -> bool:
        """Returns shape, dtype and the places of NaN and Inf always count."""
        if comparison.problem or (self.check_pcc and not comparison.agrees(self.pcc)):
            return False
        return comparison.within or not (self.check_atol or self.check_rtol)


def checked(
    golden: torch.Tensor,
    found: torch.Tensor,
    verdict: Verdict,
    dtype_matters: bool,
    producer: Producer | None = None,
    device: int = 0,
) -> Comparison:
    """Checks a value. producer: of the golden, which is consulted when the value is not accepted by itself."""
    allowed = ANSWERS.get(dtype_name(golden), (dtype_name(golden),))
    if dtype_matters and dtype_name(found) not in allowed:
        problem = f"dtype {found.dtype}, expected {' or '.join(f'torch.{name}' for name in allowed)}"
        return Comparison(0.0, float("inf"), float("inf"), (), False, problem)
    if found.numel() == golden.numel() and not dtype_matters:
        found = found.reshape(golden.shape)  # the device may keep an intermediate value in another rank
    if golden.dtype == torch.bool:
        golden, found = golden.to(torch.int32), (found != 0).to(torch.int32)
    if producer is None:
        return verdict.compare(golden, found)
    comparison = verdict.compare(golden, found, producer.precision)
    if comparison.problem or comparison.max_abs == 0:
        return comparison
    if not golden.dtype.is_floating_point:  # one position that is wrong is nothing to PCC
        return pointed(comparison, golden, found, producer, device)
    if verdict.accepts(comparison):
        return comparison
    noise = producer.noise(device)
    return verdict.compare(golden, found, producer.precision, noise) if noise else comparison


def pointed(
    comparison: Comparison, golden: torch.Tensor, found: torch.Tensor, producer: Producer, device: int
) -> Comparison:
    """Returns positions are right when they stand for the right elements: of equal ones, any will do."""
    try:
        expected, given, exact = producer.meaning(golden, found, device)
    except LookupError:
        return comparison
    except ValueError as impossible:
        return replace(comparison, problem=str(impossible))
    expected, given = expected.to(torch.float64), given.to(torch.float64)
    dtype = torch.float32 if producer.precision is None else producer.precision
    # Computed elements differ on the device by some roundings. Elements closer than this may be in the other order.
    tolerance = 0.0 if exact else max(4 * torch.finfo(dtype).eps, 1e-5)
    size = torch.nan_to_num(expected, nan=0.0, posinf=0.0, neginf=0.0).abs()
    error = torch.where((expected == given) | (expected.isnan() & given.isnan()), 0.0, (expected - given).abs())
    wrong = ~(error <= tolerance * (size + size.square().mean().sqrt()))
    if bool(wrong.any()):
        at = tuple(wrong.nonzero()[0].tolist())
        return replace(
            comparison,
            worst=at,
            problem=f"index {int(found[at])} at {list(at)} stands for {float(given[at]):.6g}, "
            f"expected {int(golden[at])}, which stands for {float(expected[at]):.6g}",
        )
    where = int((golden != found).sum())
    note = f"{where} of {golden.numel()} indices are other ones, of elements that are equal"
    return replace(comparison, within=True, note=note, near=True)


@checked_arguments
def check_outputs(
    golden_tensor: torch.Tensor,
    output_tensor: torch.Tensor,
    tensor_name: str,
    pcc: float,
    atol: float | None,
    rtol: float | None,
    check_pcc: bool,
    check_atol: bool,
    check_rtol: bool,
    raise_exception: bool = True,
) -> Comparison:
    """Compares one tensor; raises TTBuilderGoldenException if it is not accepted, unless disabled."""
    verdict = Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
    comparison = checked(golden_tensor, output_tensor, verdict, True)
    record = Record("output", tensor_name, "", tensor_name, 0, tuple(output_tensor.shape),
                    dtype_name(output_tensor), comparison, verdict.accepts(comparison))  # fmt: skip
    if raise_exception and not record.passed:
        raise TTBuilderGoldenException(record.describe(), [record])
    return comparison


def dtype_name(tensor: torch.Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def shards_of(golden: Any, mesh_shape: Sequence[int]) -> GoldenMapTensor:
    return GoldenMapTensor.of(golden, mesh_shape)


def compare_shards(
    golden: GoldenMapTensor,
    found: Sequence[torch.Tensor],
    verdict: Verdict,
    dtype_matters: bool,
    producer: Producer | None = None,
) -> list[tuple[int, torch.Tensor, Comparison]]:
    """Returns (device, value, comparison) of each device. One value, or one golden, stands for all devices; where both
    are one, they are compared once.

    producer: of the golden, see `checked`.
    """
    expected = len(golden.shard_map)
    if len(found) != expected and len(found) != 1 and expected != 1:
        problem = f"{len(found)} shards, expected {expected}"
        return [(0, found[0], Comparison(0.0, float("inf"), float("inf"), (), False, problem))]
    results = []
    for device in range(max(len(found), expected)):
        value = found[device if len(found) > 1 else 0]
        results.append(
            (device, value, checked(golden.shard_at(device), value, verdict, dtype_matters, producer, device))
        )
    return results
