# SPDX-License-Identifier: Apache-2.0
"""Stands for `bench.isolated.output_of` where a test looks at no times: processes are forks of one with PyTorch."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import python_process

from bench.isolated import output_of

ROOT = Path(__file__).resolve().parents[3]
IMPORTS = "torch torch._dynamo transformers.models.llama.modeling_llama"


def forked_output_of(command: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    program, *words = command
    if program != sys.executable:
        return output_of(command, environment)
    done = python_process.run(words, IMPORTS, env=environment, cwd=ROOT)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().rpartition("\n")[2])
    return done.stdout
