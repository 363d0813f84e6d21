# SPDX-License-Identifier: Apache-2.0
"""How a computed tensor is compared with its golden."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from .optional import dtype_name, torch

if TYPE_CHECKING:
    from torch import Tensor

# Largest |a - b| <= atol + rtol * |b| that the dtype's precision explains after an op or a few. Integers are exact.
TOLERANCES: dict[str, tuple[float, float]] = {
    "float64": (1e-8, 1e-6),
    "float32": (1e-4, 1e-3),
    "float16": (1e-2, 1e-2),
    "bfloat16": (5e-2, 5e-2),
}


def tolerances(dtype: torch.dtype) -> tuple[float, float]:
    """Returns (atol, rtol) for values of this dtype."""
    return TOLERANCES.get(dtype_name(dtype) or "", (0.0, 0.0))


# A spread of fewer rounding errors than this correlates by chance: two values with independent errors of the size of
# an eighth of their spread have a PCC of about 0.98.
SIGNIFICANT = 8.0


@dataclass(frozen=True)
class Comparison:
    """The differences between `calculated` and `golden`.

    problem: why the two are not comparable (shape, dtype, NaN or Inf at other places), or "".
    pcc: Pearson correlation of the finite elements; 1 for equal tensors, also constant ones.
    max_abs, max_rel: largest |a - b| and |a - b| / |b| among finite elements; worst: index of the former.
    within: True when |a - b| <= atol + rtol * |b| everywhere.
    note: why PCC does not decide, or "" where it does; near: the verdict in its place.
    """

    pcc: float
    max_abs: float
    max_rel: float
    worst: tuple[int, ...]
    within: bool
    problem: str = ""
    note: str = ""
    near: bool = False

    def agrees(self, pcc: float) -> bool:
        """Returns whether the correlation, or what decides in its place, is good enough."""
        return not self.problem and (self.near if self.note else self.pcc >= pcc)

    def to_dict(self) -> dict[str, Any]:
        return {k: (v if not isinstance(v, float) or math.isfinite(v) else str(v)) for k, v in asdict(self).items()}


def mask_torch_inf_nan(tensor: Tensor) -> Tensor:
    """Returns a copy with 0 in place of NaN and infinities."""
    return torch.nan_to_num(tensor, nan=0.0, posinf=0.0, neginf=0.0) if tensor.dtype.is_floating_point else tensor


def _pcc(golden: Tensor, calculated: Tensor) -> float:
    """Returns the Pearson correlation of flat float64 tensors without NaN and Inf; 0 where it is undefined."""
    if torch.equal(golden, calculated):
        return 1.0
    a, b = golden - golden.mean(), calculated - calculated.mean()
    norms = a.norm() * b.norm()
    return float((a @ b / norms).clamp(-1.0, 1.0)) if norms > 0 else 0.0


def coarser(*dtypes: torch.dtype | None) -> torch.dtype | None:
    """Returns the floating-point dtype of least precision; None when there is none."""
    floats = [d for d in dtypes if d is not None and d.is_floating_point]
    return max(floats, key=lambda d: torch.finfo(d).eps, default=None)


def rounding_error(golden: Tensor, wider: Tensor) -> float:
    """Returns how far (root mean square) a golden is from the same one in a wider type, where both are finite."""
    error = golden.to(torch.float64) - wider.to(torch.float64)
    error = error[torch.isfinite(error)]
    return float(error.square().mean().sqrt()) if error.numel() else 0.0


def constancy(
    golden: Tensor, error: Tensor, dtype: torch.dtype, precision: torch.dtype, atol: float | None, rtol: float | None,
    noise: float,
) -> tuple[str, bool]:  # fmt: skip
    """Returns (why PCC says nothing of `golden`, whether the errors are small), ("", False) where PCC decides.

    Args:
        golden, error: finite elements, float64.
        dtype: by whose rounding elements differ; precision: of the values that `golden` was computed from.
        noise: rounding error of `golden`, root mean square, as far as it is known to be more than that of the dtype.
    """
    spread, size = float(golden.std(correction=0)), float(golden.square().mean().sqrt())
    rounding = max(torch.finfo(dtype).eps / math.sqrt(12) * size, noise)  # of a uniformly distributed last half bit
    if spread > SIGNIFICANT * rounding:
        return "", False
    default = tolerances(precision)
    rtol = default[1] if rtol is None else rtol
    # An absolute tolerance is for values around 1: small values that are all alike are compared by their own size.
    atol = max(SIGNIFICANT * noise, min(default[0], rtol * size) if size > 0 else default[0]) if atol is None else atol
    near = bool((error <= atol + rtol * golden.abs()).all())
    return (
        f"the golden varies by rounding only ({spread:.2g} compared with {size:.2g}): tolerances decide, not PCC",
        near,
    )


def placed_differently(golden: Tensor, calculated: Tensor) -> str:
    """Returns which of NaN, +Inf, -Inf lie at other places, with the first such place; "" when none do."""
    if not golden.dtype.is_floating_point:
        return ""
    tests = {"NaN": torch.isnan, "+Inf": torch.isposinf, "-Inf": torch.isneginf}
    for name, test in tests.items():
        a, b = test(golden), test(calculated)
        if not torch.equal(a, b):
            place = tuple((a != b).nonzero()[0].tolist())
            return f"{name} at other places: {int(a.sum())} expected, {int(b.sum())} found, first difference at {place}"
    return ""


def compare(
    golden: Tensor,
    calculated: Tensor,
    atol: float | None = None,
    rtol: float | None = None,
    precision: torch.dtype | None = None,
    noise: float = 0.0,
    near: tuple[float | None, float | None] | None = None,
) -> Comparison:
    """Compares completely. dtypes are the caller's business.

    Args:
        atol, rtol: of `within`; default to those of the golden's dtype.
        precision: coarsest dtype of the values that the golden was computed from, when it is not its own.
        noise: rounding error of the golden where it is known (root mean square), see `constancy`.
        near: (atol, rtol) that decide where PCC says nothing; default to atol and rtol, then to those of `precision`.
    """
    if golden.shape != calculated.shape:
        problem = f"shape {list(calculated.shape)}, expected {list(golden.shape)}"
        return Comparison(0.0, math.inf, math.inf, (), False, problem)
    near = (atol, rtol) if near is None else near
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
    a, b, error_ = (a, b, error) if every else (a[finite], b[finite], error[finite])
    note, small = "", False
    if golden.dtype.is_floating_point:
        dtype = coarser(golden.dtype, calculated.dtype) or golden.dtype
        note, small = constancy(a, error_, dtype, coarser(dtype, precision) or dtype, *near, noise)
    figures = (_pcc(a, b), float(error.max()), float(relative.max()), tuple(int(i) for i in worst))
    return Comparison(*figures, within, problem, note, small and not problem)


def get_atol_rtol(golden: Tensor, calculated: Tensor) -> tuple[float, float]:
    """Returns (largest absolute error, largest relative error)."""
    result = compare(golden, calculated)
    return result.max_abs, result.max_rel


def get_pcc(golden: Tensor, calculated: Tensor, atol: float | None = None, rtol: float | None = None) -> float:
    return compare(golden, calculated, atol, rtol).pcc


def get_atol_rtol_pcc(
    golden: Tensor, calculated: Tensor, atol: float | None = None, rtol: float | None = None
) -> tuple[float, float, float]:
    result = compare(golden, calculated, atol, rtol)
    return result.max_abs, result.max_rel, result.pcc
