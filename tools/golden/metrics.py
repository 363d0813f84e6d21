"""How a computed tensor is compared with its golden."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

# Largest |a - b| <= atol + rtol * |b| that the dtype's precision explains after an op or a few. Integers are exact.
TOLERANCES: dict[torch.dtype, tuple[float, float]] = {
    torch.float64: (1e-8, 1e-6),
    torch.float32: (1e-4, 1e-3),
    torch.float16: (1e-2, 1e-2),
    torch.bfloat16: (5e-2, 5e-2),
}


def tolerances(dtype: torch.dtype) -> tuple[float, float]:
    """(atol, rtol) for values of this dtype."""
    return TOLERANCES.get(dtype, (0.0, 0.0))


@dataclass(frozen=True)
class Comparison:
    """All that is known of how `calculated` differs from `golden`.

    problem: why the two are not comparable (shape, dtype, NaN or Inf at other places), or "".
    pcc: Pearson correlation of the finite elements; 1 for equal tensors, also constant ones.
    max_abs, max_rel: largest |a - b| and |a - b| / |b| among finite elements; worst: index of the former.
    within: True when |a - b| <= atol + rtol * |b| everywhere.
    """

    pcc: float
    max_abs: float
    max_rel: float
    worst: tuple[int, ...]
    within: bool
    problem: str = ""

    def to_dict(self) -> dict[str, Any]:
        return {k: (v if not isinstance(v, float) or math.isfinite(v) else str(v)) for k, v in asdict(self).items()}


def mask_torch_inf_nan(tensor: Tensor) -> Tensor:
    """A copy with 0 in place of NaN and infinities."""
    return torch.nan_to_num(tensor, nan=0.0, posinf=0.0, neginf=0.0) if tensor.dtype.is_floating_point else tensor


def _pcc(golden: Tensor, calculated: Tensor) -> float:
    """Pearson correlation of flat float64 tensors without NaN and Inf."""
    if torch.equal(golden, calculated):
        return 1.0
    a, b = golden - golden.mean(), calculated - calculated.mean()
    norms = a.norm() * b.norm()
    if norms == 0:  # a constant: correlation is undefined, so nearness decides
        return 1.0 if torch.allclose(golden, calculated, rtol=1e-2, atol=1e-6) else 0.0
    return float((a @ b / norms).clamp(-1.0, 1.0))


def placed_differently(golden: Tensor, calculated: Tensor) -> str:
    """Which of NaN, +Inf, -Inf lie at other places, with the first such place; "" when none do."""
    if not golden.dtype.is_floating_point:
        return ""
    tests = {"NaN": torch.isnan, "+Inf": torch.isposinf, "-Inf": torch.isneginf}
    for name, test in tests.items():
        a, b = test(golden), test(calculated)
        if not torch.equal(a, b):
            place = tuple((a != b).nonzero()[0].tolist())
            return f"{name} at other places: {int(a.sum())} expected, {int(b.sum())} found, first difference at {place}"
    return ""


def compare(golden: Tensor, calculated: Tensor, atol: float | None = None, rtol: float | None = None) -> Comparison:
    """Compare completely. Tolerances default to those of the golden's dtype. dtypes are the caller's business."""
    if golden.shape != calculated.shape:
        problem = f"shape {list(calculated.shape)}, expected {list(golden.shape)}"
        return Comparison(0.0, math.inf, math.inf, (), False, problem)
    default = tolerances(golden.dtype)
    atol, rtol = default[0] if atol is None else atol, default[1] if rtol is None else rtol
    if golden.dtype.is_complex:
        golden, calculated = torch.view_as_real(golden), torch.view_as_real(calculated.to(golden.dtype))
    wide = torch.float64
    problem = placed_differently(golden.to(wide), calculated.to(wide)) if golden.dtype.is_floating_point else ""
    a, b = golden.to(wide).flatten(), calculated.to(wide).flatten()
    finite = torch.isfinite(a) & torch.isfinite(b)
    if not bool(finite.any()):
        return Comparison(0.0 if problem else 1.0, 0.0, 0.0, (), not problem, problem)
    error = torch.where(finite, (a - b).abs(), 0.0)
    relative = torch.where(error > 0, error / a.abs().clamp_min(torch.finfo(torch.float32).tiny), 0.0)
    worst = torch.unravel_index(error.argmax(), golden.shape)
    within = bool((error <= atol + rtol * torch.where(finite, a.abs(), 0.0)).all()) and not problem
    every = bool(finite.all())
    pcc = _pcc(a if every else a[finite], b if every else b[finite])
    return Comparison(pcc, float(error.max()), float(relative.max()), tuple(int(i) for i in worst), within, problem)


def get_atol_rtol(golden: Tensor, calculated: Tensor) -> tuple[float, float]:
    """(largest absolute error, largest relative error)."""
    result = compare(golden, calculated)
    return result.max_abs, result.max_rel


def get_pcc(golden: Tensor, calculated: Tensor, atol: float | None = None, rtol: float | None = None) -> float:
    return compare(golden, calculated, atol, rtol).pcc


def get_atol_rtol_pcc(
    golden: Tensor, calculated: Tensor, atol: float | None = None, rtol: float | None = None
) -> tuple[float, float, float]:
    result = compare(golden, calculated, atol, rtol)
    return result.max_abs, result.max_rel, result.pcc
