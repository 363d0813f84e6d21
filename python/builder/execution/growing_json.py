# SPDX-License-Identifier: Apache-2.0
"""A JSON object in a file, written while it grows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ttmlir.files import write_whole

_END = b"\n}"


class GrowingJson:
    """The file of one object. Entries are added at its end, so that each costs what itself has; an entry that changes
    rewrites the file. After each call the file is a whole object."""

    def __init__(self, path: Path):
        self.path = path
        self._known: set[str] = set()
        self._size = -1  # of the file as it was left

    def save(self, whole: Mapping[Any, Any], changed: Sequence[Any]) -> None:
        """Writes the entries `changed` of `whole`, whose others are written.

        Raises:
            OSError: the file cannot be written.
        """
        names = [str(key) for key in changed]
        is_ours = bool(self._known) and self.path.is_file() and self.path.stat().st_size == self._size
        if not is_ours or self._known.intersection(names):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(self.path, json.dumps(whole, indent=1))
            self._known = {str(key) for key in whole}
        elif names:
            entries = json.dumps({key: whole[key] for key in changed}, indent=1).encode()
            with self.path.open("r+b") as file:
                file.seek(-len(_END), 2)
                file.write(b"," + entries.removeprefix(b"{"))
            self._known.update(names)
        self._size = self.path.stat().st_size
