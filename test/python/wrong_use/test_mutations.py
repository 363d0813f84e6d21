# SPDX-License-Identifier: Apache-2.0
"""Module texts that are damaged somewhere: every pipeline takes them or says what is wrong, and never crashes or hangs.

The texts are those of the MLIR tests. Numbers are replaced by others that matter, tokens are dropped, doubled, swapped.
Damaged texts go through a tool in batches; of a batch that dies, the texts are run one by one.
"""

from __future__ import annotations

import os
import random
import re
import resource
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BIN = Path(os.environ.get("TTMLIR_BUILD", ROOT / "build")) / "bin"
SPLIT = "// -----"

AUTO = "mesh-shape=1,2 enable-auto-sharding=true"
HOST = "cpu-fallback=true enable-cpu-hoisted-const-eval=true"
BEST = "optimization-level=2 enable-trace=true"

# What is in a text -> the pipelines that it goes through. The first that fits is taken.
PIPELINES: dict[str, list[list[str]]] = {
    r"\btosa\.": [["--convert-tosa-to-ttir", "--ttir-to-ttnn-backend-pipeline"]],
    r"\bvhlo\.": [["--stablehlo-deserialize", "--stablehlo-to-ttir-pipeline"]],
    r"stablehlo\.|chlo\.|sdy\.": [
        ["--stablehlo-to-ttir-pipeline", "--ttir-to-ttnn-backend-pipeline"],
        ["--stablehlo-pipeline=mesh-shape=1,2", "--stablehlo-to-ttir-pipeline"],
        [f"--stablehlo-pipeline={AUTO}"],
        ["--stablehlo-spmd-pipeline"],
        ["--auto-sharding"],
        ["--chlo-pre-serialization-pipeline", "--stablehlo-legalize-to-vhlo", "--stablehlo-deserialize"],
        ["--sdy-import-pipeline", "--sdy-export-pipeline"],
        ["--sdy-propagation-pipeline=enable-insert-explicit-collectives=true"],
    ],
    r"ttir\.": [
        ["--ttir-to-ttnn-backend-pipeline"],
        [f"--ttir-to-ttnn-runtime-pipeline={BEST}"],
        [f"--ttir-to-ttnn-common-pipeline={HOST}"],
        ["--ttir-to-ttmetal-pipeline"],
        ["--d2m-fe-pipeline"],
        ["--ttir-to-emitc-pipeline"],
        ["--ttir-to-emitpy-pipeline"],
    ],
    r"ttnn\.": [
        ["--ttnn-common-to-runtime-pipeline"],
        ["--ttnn-common-to-emitc-pipeline"],
        ["--ttnn-common-to-emitpy-pipeline"],
        ["--recover-structure-xla-torch-pipeline"],
        ["--convert-ttnn-to-ttir"],
        ["--ttcore-register-device", "--ttnn-create-d2m-subgraphs", "--ttnn-through-d2m-pipeline"],
    ],
    r"d2m\.": [
        ["--d2m-be-pipeline", "--d2m-to-ttmetal-pipeline"],
        ["--d2m-be-pipeline", "--d2m-to-ttkernel-pre-emitc-pipeline", "--d2m-emitc-pipeline"],
        ["--d2m-be-pipeline", "--d2m-to-ttkernel-pipeline"],
        ["--d2m-be-pipeline=ttnn-mode=true", "--d2m-to-ttnn-pipeline=ttnn-mode=true"],
    ],
    r"linalg\.|memref\.": [["--linalg-to-llvm-pipeline"]],
    r"ttmetal\.|ttkernel\.|emitpy\.|ttcore\.|debug\.": [["--canonicalize"]],
}
# Modules between two pipelines, of which the tests have few: how texts of a kind are lowered, and what runs then.
LOWERED: list[tuple[str, list[str], list[list[str]]]] = [
    (r"ttir\.", ["--d2m-fe-pipeline"], [["--d2m-be-pipeline", "--d2m-to-ttmetal-pipeline"]]),
    (r"ttir\.", ["--d2m-fe-pipeline", "--d2m-be-pipeline"], [["--d2m-to-ttmetal-pipeline"]]),
    (r"ttir\.", ["--convert-ttir-to-linalg"], [["--linalg-to-llvm-pipeline"]]),
    (r"ttir\.", ["--ttir-to-ttnn-backend-pipeline"], PIPELINES[r"ttnn\."]),
    (r"stablehlo\.", ["--stablehlo-legalize-to-vhlo"], PIPELINES[r"\bvhlo\."]),
]
# What JAX says at its modules.
PARTITIONED = "module attributes {{mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32}} {{\n{}\n}}"

NUMBERS = (0, -1, 1, 2, 3, 7, 15, 16, 17, 127, 128, 255, 1025, 2**31 - 1, 2**31, -(2**31), 2**32, 2**32 + 1, 2**62,
           2**63 - 1, -(2**63), 2**64 - 1)  # fmt: skip
TYPES = ("i0", "i1", "i4", "i7", "i64", "i128", "ui8", "si32", "f16", "bf16", "f64", "f8E4M3FN", "index",
         "complex<f32>", "none", "!quant.uniform<i8:f32, 1.0>")  # fmt: skip
TYPE = re.compile(r"(?<=[x<: ])(?:[us]?i\d+|b?f\d+|index)(?=[>,)\s])")
KINDS = (*["everywhere"] * 9, "number", "number", "size", "size", "token", "token", *["type"] * 3, "unknown", "module",
         "split")  # fmt: skip
# How a dimension, or copies, or partial values, lie on a mesh.
SPLIT_DIM = re.compile(r"(?<=[\[ =nx])\{(?:\??|\"\w+\"[^{}]*)\}(?:p\d)?")
SPLITS = ("{}", "{?}", '{"x"}', '{"y"}', '{"x", ?}', '{"x", "y"}', '{"x":(1)2}', '{"y":(2)2, ?}', "{?}p1", '{"y"}p2')
TOKEN = re.compile(r"\"[^\"\n]*\"|[#!%@^]?[A-Za-z_][\w.$-]*|\d+|\S")
LONGEST = 20000  # characters of a text
SECONDS = 60  # of CPU time
BYTES = 8 << 30  # of addresses

UPSTREAM_PIPELINES: set[str] = set()

# MLIR's own parser asserts on the first, and makes room for as many results as the second asks for; the verifiers of
# linalg and of the LLVM dialect read iterator types and places in structs without a look at them.
UPSTREAM = re.compile(r"array<index|%\w+[#:]\d{5,}|iterator_types = \[[^\]]*(?:(?<![\w<])\d|#map)|llvm\.insertvalue")


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


def lowered(chunks: list[str], options: list[str], folder: Path) -> list[str]:
    """Returns the tool's output for the inputs that it accepts."""
    file = folder / "sources.mlir"
    file.write_text(f"\n{SPLIT}\n".join(chunks))
    command = [str(BIN / "ttmlir-opt"), str(file), *options, "--split-input-file", "--mlir-disable-threading"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return [each.strip() for each in done.stdout.split(SPLIT) if each.strip()]


def texts(folder: Path) -> Iterator[Text]:
    """Returns the modules of the tests, and modules between pipelines."""
    sources = list(sources_of_tests())
    yield from sources
    for kind, options, pipelines in LOWERED:
        chunks = list(dict.fromkeys(each.text for each in sources if re.search(kind, each.text)))
        result = [
            text for text in lowered(chunks, options, folder) if len(text) < LONGEST and not UPSTREAM.search(text)
        ]
        assert result, f"{options} takes none of the texts"
        for number, text in enumerate(result):
            for each in pipelines:
                yield Text(f"{' '.join(options)} [{number}]", text, tuple(each))


def sources_of_tests() -> Iterator[Text]:
    for path in sorted((ROOT / "test" / "ttmlir").rglob("*.mlir")):
        if "invalid" in path.name:  # wrong before anything is changed
            continue
        content = re.sub(r"^\s*//(?! -----).*$", "", path.read_text(), flags=re.MULTILINE)
        for number, chunk in enumerate(pieces(content)):
            found = next((p for kind, p in PIPELINES.items() if re.search(kind, chunk)), None)
            if found is None or len(chunk) > LONGEST or UPSTREAM.search(chunk):
                continue
            for options in found:
                text = chunk.strip()
                if options == ["--stablehlo-spmd-pipeline"] and not re.search(r"^(module|#|!)", text, re.MULTILINE):
                    text = PARTITIONED.format(text)
                yield Text(f"{path.relative_to(ROOT)} [{number}]", text, tuple(options))


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
        kind = rng.choice(KINDS)
        if kind == "module":
            text = rng.choice((f"module {{\n{text}\n}}", f"module {{\n{text}\n}}\nmodule {{\n}}"))
            continue
        dims = list(SPLIT_DIM.finditer(text))
        if kind == "split" and dims:
            old = rng.choice(dims)
            text = text[: old.start()] + rng.choice(SPLITS) + text[old.end() :]
            continue
        types = list(TYPE.finditer(text))
        if kind == "type" and types:
            old, new = rng.choice(types), rng.choice(TYPES)
            if rng.random() < 0.5:
                text = text[: old.start()] + new + text[old.end() :]
            else:
                text = TYPE.sub(lambda each, old=old, new=new: new if each[0] == old[0] else each[0], text)
            continue
        if kind == "unknown" and sizes:
            size = rng.choice(sizes)
            text = text[: size.start()] + "?" + text[size.end() :]
            continue
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


def bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))


def run(chunks: list[str], options: tuple[str, ...], folder: Path) -> str:
    """Returns what is wrong with how the tool ended, or nothing. Errors in the text are not."""
    file = folder / "damaged.mlir"
    file.write_text(f"\n{SPLIT}\n".join(chunks))
    command = [str(BIN / "ttmlir-opt"), str(file), *options, "--split-input-file", "--mlir-disable-threading",
               "-o", os.devnull]  # fmt: skip
    done = subprocess.run(command, capture_output=True, preexec_fn=bounded, check=False)
    if done.returncode in (0, 1) and not re.search(rb"Assertion|LLVM ERROR", done.stderr):
        return ""
    if done.returncode == -signal.SIGXCPU:
        return f"runs for more than {SECONDS} s"
    tail = done.stderr.decode(errors="replace").strip().splitlines()
    said = next((line for line in tail if re.search("Assertion|LLVM ERROR", line)), tail[0] if tail else "")
    return f"ends with {done.returncode}: {said[:300]}"


def check(count: int, batch: int, seed: int, folder: Path) -> None:
    rng = random.Random(seed)
    sources: dict[tuple[str, ...], list[Text]] = {}
    for text in texts(folder):
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


def test_every_public_pipeline_is_run() -> None:
    help_text = subprocess.run([BIN / "ttmlir-opt", "--help"], capture_output=True, text=True, check=True).stdout
    listed = help_text.partition("Pass Pipelines:")[2].partition("\n  --")[0]
    names = set(re.findall(r"^ {6}--([\w-]+) ", listed, re.MULTILINE))
    run_here = {option[2:].partition("=")[0] for found in PIPELINES.values() for each in found for option in each}
    assert names - run_here <= UPSTREAM_PIPELINES, names - run_here
    assert "stablehlo-to-ttir-pipeline" in names


@pytest.mark.long
def test_damaged_texts(seed: int, tmp_path: Path) -> None:
    check(400, 40, seed, tmp_path)


@pytest.mark.slow
def test_many_damaged_texts(seed: int, tmp_path: Path) -> None:
    for round_ in range(10):
        check(2000, 40, seed + round_, tmp_path)
