"""Why a line is slower than 0.8 of its peer: (name, dtype) -> reason, as a shell pattern for the name."""

from __future__ import annotations

from fnmatch import fnmatchcase

REASONS: dict[tuple[str, str], str] = {}


def reason(name: str, dtype: str) -> str | None:
    return next((text for (pattern, of), text in REASONS.items() if of == dtype and fnmatchcase(name, pattern)), None)
