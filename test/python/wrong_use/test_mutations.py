# SPDX-License-Identifier: Apache-2.0
"""Module texts that are damaged somewhere: every pipeline takes them or says what is wrong, and never crashes or hangs.

The texts are those of the MLIR tests. Numbers are replaced by others that matter, tokens are dropped, doubled, swapped.
Damaged texts go through a tool in batches; of a batch that dies, the texts are run one by one.
"""

from __future__ import annotations

import os
import random
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("TTMLIR_BUILD", ROOT / "build")) / "bin"
SPLIT = "// -----"

# What is in a text -> the pipelines that it goes through. The first that fits is taken.
PIPELINES: dict[str, list[list[str]]] = {
    r"stablehlo\.|chlo\.|sdy\.": [["--stablehlo-to-ttir-pipeline", "--ttir-to-ttnn-backend-pipeline"]],
    r"ttir\.": [["--ttir-to-ttnn-backend-pipeline"], ["--ttir-to-ttmetal-pipeline"], ["--ttir-to-emitpy-pipeline"]],
    r"ttnn\.": [["--ttnn-common-to-runtime-pipeline"], ["--ttnn-common-to-emitc-pipeline"]],
    r"d2m\.": [["--d2m-be-pipeline", "--d2m-to-ttmetal-pipeline"]],
    r"ttmetal\.|ttkernel\.|emitpy\.|ttcore\.|debug\.": [["--canonicalize"]],
}
NUMBERS = (0, -1, 1, 2, 3, 7, 15, 16, 17, 127, 128, 255, 1025, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**62,
           2**63 - 1, -(2**63), 2**64 - 1)  # fmt: skip
TOKEN = re.compile(r"\"[^\"\n]*\"|[#!%@^]?[A-Za-z_][\w.$-]*|\d+|\S")
SECONDS = 60

# MLIR's own parser asserts on the first, and makes room for as many results as the second asks for.
UPSTREAM = re.compile(r"array<index|%\w+[#:]\d{5,}")


@dataclass(frozen=True)
class Text:
    """One module of a test, and what runs over it."""

    origin: str
    text: str
    options: tuple[str, ...]


def pieces(content: str) -> Iterator[str]:
    """Modules; of one that is a list of functions that call nothing, each function: what is wrong with one of them
    hides the others."""
    for chunk in content.split(SPLIT):
        functions = re.split(r"^(?=func\.func)", chunk, flags=re.MULTILINE)
        alone = not re.search(
            r"\bcall\b|load_cached|^(module|sdy\.mesh|ttcore\.device|memref\.global)", chunk, re.MULTILINE
        )
        # Aliases stand before the functions that use them.
        yield from ((functions[0] + each for each in functions[1:]) if alone and len(functions) > 2 else [chunk])


def texts() -> Iterator[Text]:
    for path in sorted((ROOT / "test" / "ttmlir").rglob("*.mlir")):
        if "invalid" in path.name:  # wrong before anything is changed
            continue
        content = re.sub(r"^\s*//(?! -----).*$", "", path.read_text(), flags=re.MULTILINE)
        for number, chunk in enumerate(pieces(content)):
            found = next((p for kind, p in PIPELINES.items() if re.search(kind, chunk)), None)
            if found is None or len(chunk) > 20000 or UPSTREAM.search(chunk):
                continue
            for options in found:
                yield Text(f"{path.relative_to(ROOT)} [{number}]", chunk.strip(), tuple(options))


def damaged(text: str, rng: random.Random) -> str:
    """One to three changes. Half of them are of one number wherever it stands, which leaves more texts that parse."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        tokens = list(TOKEN.finditer(text))
        # Sizes in types are one word with what stands before and behind: 4x8xf32.
        sizes = list(re.finditer(r"(?<=[<x])\d+(?=x)", text))
        numbers = [t for t in tokens if t[0].isdigit()]
        if not tokens:
            return text
        new = str(rng.choice(NUMBERS))
        kind = rng.choice(("everywhere", "everywhere", "everywhere", "number", "size", "token"))
        chosen = rng.choice(
            {"number": numbers, "size": sizes, "token": tokens}.get(kind) or [*sizes, *numbers] or tokens
        )
        if kind == "everywhere" and chosen[0].isdigit():
            text = re.sub(rf"(?<![\w.#%@^\"]){chosen[0]}(?![\w.])|(?<=[<x]){chosen[0]}(?=x)", new, text)
            continue
        if kind == "token":
            new = rng.choice(("", f"{chosen[0]} {chosen[0]}", rng.choice(tokens)[0]))
        text = text[: chosen.start()] + new + text[chosen.end() :]
    return text


def run(chunks: list[str], options: tuple[str, ...], folder: Path) -> str:
    """What is wrong with how the tool ended, or nothing. Errors in the text are not."""
    file = folder / "damaged.mlir"
    file.write_text(f"\n{SPLIT}\n".join(chunks))
    command = [str(BIN / "ttmlir-opt"), str(file), *options, "--split-input-file", "--mlir-disable-threading",
               "-o", os.devnull]  # fmt: skip
    try:
        done = subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return f"runs for more than {SECONDS} s"
    if done.returncode in (0, 1) and b"Assertion" not in done.stderr:
        return ""
    tail = done.stderr.decode(errors="replace").strip().splitlines()
    said = next((line for line in tail if "Assertion" in line), tail[0] if tail else "")
    return f"ends with {done.returncode}: {said[:300]}"


def check(count: int, batch: int, seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    sources: dict[tuple[str, ...], list[Text]] = {}
    for text in texts():
        sources.setdefault(text.options, []).append(text)
    assert len(sources) >= len(PIPELINES), "the MLIR tests are not where they were"
    total = sum(map(len, sources.values()))
    failures = []
    for options, origins in sources.items():
        left = max(batch, round(count * len(origins) / total))
        while left > 0:
            picked = [rng.choice(origins) for _ in range(min(left, batch))]
            chunks = [damaged(each.text, rng) for each in picked]
            left -= len(chunks)
            pairs = [(o, c) for o, c in zip(picked, chunks, strict=True) if not UPSTREAM.search(c)]
            if not run([c for _, c in pairs], options, folder):
                continue
            for origin, chunk in pairs:
                if problem := run([chunk], options, folder):
                    failures.append(f"{origin.origin} {' '.join(options)} {problem}\n{chunk}")
    assert not failures, f"{len(failures)} texts, --seed {seed}\n\n" + "\n\n".join(failures[:20])


@pytest.mark.long
def test_damaged_texts(seed: int, tmp_path: Path) -> None:
    check(400, 40, seed, tmp_path)


@pytest.mark.slow
def test_many_damaged_texts(seed: int, tmp_path: Path) -> None:
    for round_ in range(10):
        check(2000, 40, seed + round_, tmp_path)
