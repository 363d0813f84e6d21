# SPDX-License-Identifier: Apache-2.0
"""The builder has the classes, functions and methods of the ecosystem's, or a reason why not."""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

FACTS = Path(__file__).resolve().parents[4] / "shared" / "facts" / "builder_api.json"
# Full names by pattern.
ABSENT = {
    r"base\.builder\.(BuilderMeta|Builder\.\w*(opview_to|from_parser|from_split|parser_from|split_from)\w*)":
        "methods are made from the description of the ops; no maps are kept",
    r"base\.builder\.Builder\.(parse_\w+|split_call_op|read_module|get_input_types)|base\.builder_utils\.(tag|parse|split)":
        "load_mlir_file and split_mlir_file do it for all ops by one table",
    r"base\.builder\.Builder\.generate_\w+": "goldens are computed when they are requested",
    r"base\.builder\.Builder\.(annotate|breakpoint|print|memory_snapshot|dump|region_start|region_end)":
        "methods of the builders that have ops",
    r".*\.get_metal_tensor_layout|.*_d2m(_to_flatbuffer)?|d2m\..*|base\.builder_utils\.(affine_map_from_lambda)":
        "modules of D2M are made by passes, not by a builder",
    r"base\.builder_utils\.(GridShapes|load_grid_shapes_from_system_desc|derive_canonical_core_range_set)":
        "layouts know the cores of a chip",
    r"base\.builder_utils\.(emitc_to_executable|emitpy_to_executable|run_ttir_pipeline)":
        "compile functions take target= and custom_pipeline=, and a device",
    r"base\.input_range_constraints\.Range": "golden.domains says what ops accept",
    r"stablehlo\.shardy_parallelization_utils": "generate_all_module_permutations, and the pass auto-sharding",
    r"stablehlo\.stablehlo_builder\.StableHLOBuilder\.experimental_\w+": "attributes of mpmd, which is not read",
    r"ttir\.ttir_builder\.TTIRBuilder\.(tilize|untilize)": "to_layout says how a tensor lies",
}  # fmt: skip


def missing(facts: list[dict[str, Any]]) -> Iterator[str]:
    for row in facts:
        name = row["module"].removeprefix("builder.")
        try:
            module = importlib.import_module(row["module"])
        except ModuleNotFoundError:
            yield name
            continue
        for part in [*row.get("functions", []), *row.get("classes", []), *row.get("constants", [])]:
            found = getattr(module, part["name"], None)
            if found is None:
                yield f"{name}.{part['name']}"
                continue
            for member in [*part.get("methods", []), *part.get("properties", [])]:
                if not hasattr(found, member["name"]):
                    yield f"{name}.{part['name']}.{member['name']}"


@pytest.mark.skipif(not FACTS.exists(), reason=f"{FACTS} is not there")
def test_missing_name_has_a_reason() -> None:
    names = set(missing(json.loads(FACTS.read_text())["builder"]))
    assert sorted(name for name in names if not any(re.fullmatch(pattern, name) for pattern in ABSENT)) == []
    assert [p for p in ABSENT if not any(re.fullmatch(p, name) for name in names)] == [], "reasons for nothing"


def test_a_missing_name_is_found() -> None:
    module = {"module": "builder.base.builder", "functions": [{"name": "nothing"}], "classes": [
        {"name": "Builder", "methods": [{"name": "func"}, {"name": "functor"}]}]}  # fmt: skip
    assert list(missing([module, {"module": "builder.none"}])) == [
        "base.builder.nothing", "base.builder.Builder.functor", "none",
    ]  # fmt: skip
