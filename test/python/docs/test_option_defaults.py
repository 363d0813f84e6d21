# SPDX-License-Identifier: Apache-2.0
"""Defaults of the options of passes and pipelines are the ecosystem's, or docs/differences.md says why they are not.

What a default is, is seen in what it does: with the ecosystem's value for an option, a pass or pipeline is the same
text as without it.
"""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from ttmlir import ir
from ttmlir.passmanager import PassManager

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("TTMLIR_BUILD", ROOT / "build")) / "bin"
FACTS = ROOT.parent / "shared" / "facts" / "passes.json"
GROUPS = ("passes", "pipelines", "peer_passes", "peer_pipelines")

# Options under which others have an effect.
BASES: tuple[dict[str, str], ...] = (
    {},
    {"optimization-level": "2", "enable-trace": "true"},
    {"optimization-level": "2", "enable-decision-trace": "true"},
    {"ttnn-perf-metrics-enabled": "true"},
    {"enable-create-d2m-subgraphs": "true"},
    {"enable-auto-sharding": "true"},
    {"load-input-tensors-from-disk": "true"},
    {"tuplify-input-if-empty": "true"},
)
# Known, and change nothing: "Changes nothing" in docs/options.md.
NO_EFFECT = {
    "disable-workarounds",
    "enable-decomposition-workaround-pass",
    "enable-dram-space-saving-optimization-pass",
    "enable-layout-workaround-pass",
    "enable-ttnn-decomposition-pass",
    "composite-resolution",
}
# Without a value that could be written.
UNWRITTEN = {"argument-types", "insert-memreconfig", "override-conv2d-config", "override-conv3d-config",
             "override-output-layout"}  # fmt: skip


def facts() -> dict[str, list[dict[str, Any]]]:
    """The options of each pass and pipeline of the ecosystem that this toolchain has."""
    groups = json.loads(FACTS.read_text())
    rows = [row for group in GROUPS for row in groups[group] if row.get("options") and ":" not in row["argument"]]
    return {row["argument"]: row["options"] for row in rows if expanded(row["argument"])}


@functools.cache
def context() -> ir.Context:
    return ir.Context()


@functools.cache
def expanded(name: str, options: tuple[tuple[str, str], ...] = ()) -> str:
    """The text of a pass, or of the passes of a pipeline; empty where an option or its value is not known."""
    given = " ".join(f"{key}={value}" for key, value in options)
    text = f"{name}{{{given}}}" if given else name
    for nested in (f"builtin.module({text})", f"builtin.module(func.func({text}))"):
        try:
            return str(PassManager.parse(nested, context()))
        except ValueError:
            continue
    return ""


def spellings(default: str) -> list[str]:
    """A default as it stands in C++, as options are written: none where it is a list or map."""
    default = default.strip()
    if switch := re.fullmatch(r"std::optional<bool>\((.*)\)", default):
        return ["undefined" if "nullopt" in switch[1] else switch[1]]
    if default.endswith("()"):
        return []
    if default.startswith('"'):
        return [default.strip('"')]
    if re.fullmatch(r"[\d.]+f", default):
        return [default[:-1]]
    name = default.rpartition("::")[2]
    if "::" not in default:
        return [default]
    words = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return [name, name.lower(), words, words.removeprefix("device_")]  # DeviceL1 is l1


def known_options() -> dict[str, set[str]]:
    """The options of each pass and pipeline, as the tool lists them."""
    text = subprocess.run([BIN / "ttmlir-opt", "--help"], capture_output=True, text=True, check=True).stdout
    known: dict[str, set[str]] = {}
    options: set[str] = set()
    for line in text.splitlines():
        if found := re.match(r" {6}--([\w-]+)", line):
            options = known.setdefault(found[1], set())
        elif found := re.match(r" {8}--([\w-]+)", line):
            options.add(found[1])
    return known


def differences(name: str, options: set[str]) -> dict[str, str]:
    """Each option whose default is another one: the ecosystem's."""
    found = {}
    bases = [base for base in BASES if expanded(name, tuple(base.items()))]
    for option in facts()[name]:
        key = option["name"]
        if key not in options or option.get("default") is None or key in UNWRITTEN:
            continue
        values = [each for each in spellings(option["default"]) if expanded(name, ((key, each),))]
        if not values:
            found[key] = f"{option['default']}, which is refused"
            continue
        under = [base for base in bases if key not in base]
        given = [expanded(name, (*base.items(), (key, values[0]))) for base in under]
        if given != [expanded(name, tuple(base.items())) for base in under]:
            found[key] = values[0]
        other = {"true": "false", "false": "true"}.get(values[0])
        effects = [expanded(name, (*base.items(), (key, other))) for base in under] if other else []
        # The common pipeline ends before traces and figures, and parts of the path to kernels take the options of the
        # whole. A value that is refused is an effect, too.
        is_part = name.endswith("common-pipeline") or name.startswith("d2m-")
        if effects == given and key not in NO_EFFECT and not is_part:
            found[key] = "without an effect that tells the default"
    return found


@functools.cache
def listed() -> dict[str, set[str]]:
    """The table of docs/differences.md: options by pass or pipeline."""
    page = (ROOT / "docs" / "differences.md").read_text().partition("\n## Defaults\n")[2].partition("\n## ")[0]
    table: dict[str, set[str]] = {}
    for options, where, reason in re.findall(r"^\| (`.*?) \| (`.*?) \| (.*) \|$", page, re.MULTILINE):
        assert reason, options
        for name in re.findall(r"`([\w-]+)`", where):
            table.setdefault(name, set()).update(re.findall(r"`([\w-]+)`", options))
    return table


@pytest.mark.skipif(not FACTS.exists(), reason=f"{FACTS} is not there")
def test_defaults() -> None:
    rows, known = facts(), known_options()
    assert len(rows) >= 30
    found = {name: set(differences(name, known[name])) for name in rows}
    assert {name: options for name, options in found.items() if options} == listed()
