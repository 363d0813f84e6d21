# SPDX-License-Identifier: Apache-2.0
"""Self-contained pages: a template with the style, the drawing functions and the data that it shows."""

from __future__ import annotations

import json
from importlib import resources
from typing import Any


def page(template: str, data: Any, package: str = __package__) -> str:
    """Returns the page of a template of a package, this one unless told otherwise, which shows `data` (JSON)."""

    def text(name: str, package: str = __package__) -> str:
        return resources.files(package).joinpath(name).read_text(encoding="utf-8")

    # "<" cannot end the script element then, whatever a location says. The data go in last, so that nothing in them is
    # replaced.
    shown = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    result = text(template, package).replace("/*style*/", text("page.css")).replace("/*helpers*/", text("page.js"))
    return result.replace("/*data*/null", shown)
