# SPDX-License-Identifier: Apache-2.0
"""Rows of JAX functions as text: through `ttmlir-opt`, `ttmlir-translate` and `ttrt`, without the plugin.

Run as a program it takes the name of a table (jax_functions, jax_lax, ...), a folder and the numbers of rows, and
prints one line of JSON for each row: name, verdict, reason.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax_functions import Row, difference
from ttrt.__main__ import main as ttrt

BIN = Path(__file__).resolve().parents[3] / "build" / "bin"
PIPELINE = ("--stablehlo-to-ttir-pipeline", "--ttir-to-ttnn-backend-pipeline")


def as_stored(value: Any) -> np.ndarray:
    """An argument as a program has it: complex numbers are pairs, what NumPy has no type for is wider."""
    array = np.asarray(value)
    if np.iscomplexobj(array):
        return np.stack([array.real, array.imag], -1).astype(np.float32)
    if jnp.issubdtype(array.dtype, np.floating):
        return array.astype(np.float32) if array.dtype != np.float16 else array
    if array.dtype in (ml_dtypes.int2, ml_dtypes.int4):
        return array.astype(np.int32)
    return array.astype(np.uint8) if array.dtype in (ml_dtypes.uint2, ml_dtypes.uint4) else array


def as_given(stored: np.ndarray, like: np.ndarray) -> np.ndarray:
    """A result of a program as JAX has it."""
    if np.iscomplexobj(like):
        pairs = np.ascontiguousarray(stored, np.float64 if like.dtype == np.complex128 else np.float32)
        return pairs.view(like.dtype)[..., 0]
    return stored.astype(like.dtype)


def text_of(row: Row, name: str) -> str:
    """The module that JAX prints, with a name of its own."""
    arguments = jax.tree.map(jnp.asarray, list(row.arguments))
    lowered = jax.jit(row.function, keep_unused=True).trace(*arguments).lower(lowering_platforms=("tt",))
    return re.sub(r"^module @\S+", f"module @{name}", lowered.as_text(), count=1, flags=re.MULTILINE)


def compiled(texts: Sequence[str]) -> tuple[dict[str, str], str]:
    """TTNN of the modules by their names, by one `ttmlir-opt`; and what it says."""
    command = [BIN / "ttmlir-opt", "--split-input-file", "--mlir-print-debuginfo", *PIPELINE]
    done = subprocess.run(command, input="\n// -----\n".join(texts), capture_output=True, text=True, check=False)
    modules = re.split(r"^// -----$", done.stdout, flags=re.MULTILINE)
    named = {found[1]: text for text in modules if (found := re.search(r"^module @(\w+)", text, re.MULTILINE))}
    return named, done.stderr


def run(row: Row, text: str, folder: Path) -> str | None:
    """Returns what is wrong with a row's results, or nothing."""
    binary, inputs, outputs, report = (folder / f"row{suffix}" for suffix in (".ttnn", ".npz", ".out.npz", ".json"))
    translate = [BIN / "ttmlir-translate", "--ttnn-to-flatbuffer", "-o", binary]
    subprocess.run(translate, input=text, text=True, check=True)
    leaves = [as_stored(leaf) for leaf in jax.tree.leaves(list(row.arguments))]
    np.savez(inputs, **{f"input_{i}": leaf for i, leaf in enumerate(leaves)})
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        given = ["--inputs", str(inputs)] if leaves else []
        code = ttrt(
            ["run", str(binary), "--program", "main", *given, "--save-outputs", str(outputs), "--json", str(report)]
        )
    if code:
        raise RuntimeError(said.getvalue()[-1000:])
    expected = [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(row.function)(*row.arguments))]
    with np.load(outputs) as results:
        found = [results[name] for name in results]
    if len(found) != len(expected):
        return f"has {len(found)} results, expected {len(expected)}"
    pairs = zip(expected, found, strict=True)
    return next((wrong for e, f in pairs if (wrong := difference(e, as_given(f, e), row.kind))), None)


def main(table: str, folder: str, *places: str) -> None:
    rows: list[Row] = importlib.import_module(table).ROWS
    verdicts: dict[str, tuple[str, str]] = {}
    texts: dict[str, str] = {}
    for place in places:
        try:
            texts[f"row_{place}"] = text_of(rows[int(place)], f"row_{place}")
        except Exception as error:
            verdicts[f"row_{place}"] = ("fails", str(error))
    modules, said = compiled(list(texts.values()))
    for place in places:
        row, name = rows[int(place)], f"row_{place}"
        if name not in verdicts:
            try:
                wrong = run(row, modules[name], Path(folder)) if name in modules else None
                verdicts[name] = ("ok", "") if wrong is None else ("differs", wrong)
            except Exception as error:
                verdicts[name] = ("fails", str(error))
            if name not in modules:
                verdicts[name] = ("fails", said)
        print(json.dumps([row.name, *verdicts[name]]), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
