# SPDX-License-Identifier: Apache-2.0
"""The process that runs one benchmark: `python -m bench.isolated.child SETTINGS`, JSON as the package writes it.

What it finds goes to the pipe that SETTINGS name, a line for each outcome as soon as it is measured.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

# Before any library reads OMP_NUM_THREADS, and before there is anything to import.
REQUEST: dict[str, Any] = json.loads(sys.argv[1]) if __name__ == "__main__" else {}
if REQUEST:
    os.environ["OMP_NUM_THREADS"] = str(REQUEST["settings"]["threads"])

from ..harness import Lock, Settings  # noqa: E402
from ..registry import benchmarks  # noqa: E402
from .outcomes import to_line  # noqa: E402


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # who started this says that it was interrupted
    settings = Settings(**{**REQUEST["settings"], "peers": tuple(REQUEST["settings"]["peers"])})
    if REQUEST["lock"]:
        settings = replace(settings, lock=Lock(Path(REQUEST["lock"])))
    run = benchmarks(REQUEST["modules"])[REQUEST["name"]]
    if torch := sys.modules.get("torch"):
        torch.set_num_threads(settings.threads)
        torch.manual_seed(0)
    with os.fdopen(REQUEST["pipe"], "w") as pipe:
        for outcome in run(settings):
            pipe.write(to_line(outcome))
            pipe.flush()


if __name__ == "__main__":
    main()
