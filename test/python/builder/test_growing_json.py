# SPDX-License-Identifier: Apache-2.0
"""A report in a file is whole after each entry, and an entry costs no more than what itself has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builder.execution import growing_json
from builder.execution.growing_json import GrowingJson


@pytest.fixture
def writes(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """The times that a file was written from its beginning."""
    result: list[Path] = []
    write = growing_json.write_whole

    def counted(path: Any, data: Any) -> None:
        result.append(path)
        write(path, data)

    monkeypatch.setattr(growing_json, "write_whole", counted)
    return result


def saved(file: GrowingJson, whole: dict[Any, Any], changed: list[Any]) -> None:
    file.save(whole, changed)
    assert json.loads(file.path.read_text()) == json.loads(json.dumps(whole))


def test_entries_are_added(tmp_path: Path, writes: list[Path]) -> None:
    file, whole = GrowingJson(tmp_path / "made" / "report.json"), dict[Any, Any]()
    for number in range(50):
        whole[number] = {"name": f'op "{number}"', "values": [number, {"more": None}]}
        saved(file, whole, [number])
    assert len(writes) == 1
    assert file.path.read_text() == json.dumps(whole, indent=1)


def test_change_causes_a_rebuild(tmp_path: Path, writes: list[Path]) -> None:
    file = GrowingJson(tmp_path / "report.json")
    saved(file, {"a": 1}, ["a"])
    saved(file, {"a": 1, "b": 2, "c": 3}, ["b", "c"])
    assert len(writes) == 1
    saved(file, {"a": 4, "b": 2, "c": 3}, ["a"])
    assert len(writes) == 2
    saved(file, {"a": 4, "b": 2, "c": 3}, [])
    assert len(writes) == 2


def test_foreign_changes_to_the_file(tmp_path: Path, writes: list[Path]) -> None:
    file = GrowingJson(tmp_path / "report.json")
    saved(file, {}, [])
    saved(file, {"a": 1}, ["a"])
    file.path.write_text("something else")
    saved(file, {"a": 1, "b": 2}, ["b"])
    file.path.unlink()
    saved(file, {"a": 1, "b": 2, "c": 3}, ["c"])
    assert len(writes) == 4
