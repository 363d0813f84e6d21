# SPDX-License-Identifier: Apache-2.0
"""Random use of the command line, mostly wrong: always one line that says why, never a stack trace."""

from __future__ import annotations

import argparse
import random
import re
from pathlib import Path

import numpy
import pytest
import torch
from ttrt.__main__ import COMMANDS, parser

NUMBERS = ["0", "1", "-1", "2", "7", "1.5", "1e3", "nan", "inf", "0x10", "", " ", "one", "9" * 30, "²", "1,5"]
MESHES = ["1x1", "1x2", "2x1", "0x1", "1x", "x", "2by2", "n300", "n3000", "p150", "-1x-1", "1x1x1", "99999x99999", ""]
ARCHS = ["wormhole_b0", "blackhole", "wormhole", "grayskull", ""]
PROGRAMS = ["main", "other", "add", "0", "1", "2", "-1", "all", "", "main ", "é", "9" * 30]
INITS = ["ones", "zeros", "0:1", "1:0", "0=ones", "9=ones", "arg0=x.npy", "arg0=in.npz", "=", "a=b=c", "::", "0:", "",
         "domain", "randn", "arange", "-1e400:1e400", "arg0=0:1e30"]  # fmt: skip
PASSES = ["canonicalize", "ttir-to-ttnn-backend-pipeline", "nosuch", "", "canonicalize{", "a(b", ",,,", "cse,cse",
          "ttir-to-ttnn-backend-pipeline{nosuch=1}"]  # fmt: skip
READ_ONLY = ["/", "/dev/null", "/proc/self/mem"]
BY_NAME = {
    "loops": [n for n in NUMBERS if len(n) < 9],  # so many runs are none of the mistakes
    "program": PROGRAMS,
    "mesh": MESHES,
    "arch": ARCHS,
    "init": INITS,
    "passes": PASSES,
    "filter": ["x", ""],
}


def make_files(files: object) -> list[str]:
    """Names of files and folders of every kind, next to the good ones."""
    data = Path(files.two).read_bytes()
    Path("empty.ttnn").write_bytes(b"")
    Path("short.ttnn").write_bytes(data[:7])
    Path("half.ttnn").write_bytes(data[: len(data) // 2])
    Path("long.ttnn").write_bytes(data + b"more")
    Path("turned.ttnn").write_bytes(data[::-1])
    Path("picture.ttnn").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)))
    Path("model.mlir").write_text('func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = "ttir.relu"(%a) : '
                                  "(tensor<4xf32>) -> tensor<4xf32>\n  return %0 : tensor<4xf32>\n}\n")  # fmt: skip
    Path("wrong.mlir").write_text("func.func @f( {")
    Path("binary.mlir").write_bytes(bytes(range(256)))
    Path("empty.mlir").write_text("")
    Path("script.py").write_text("print(1)\n")
    Path("folder.ttnn").mkdir()
    Path("folder").mkdir()
    numpy.savez("in.npz", arg0=numpy.ones((2, 3)), arg1=numpy.ones((2, 3)))
    numpy.save("x.npy", numpy.ones((2, 3)))
    numpy.save("objects.npy", numpy.array([{}, []], dtype=object), allow_pickle=True)
    Path("damaged.npz").write_bytes(Path("in.npz").read_bytes()[:60])
    Path("text.npy").write_text("1 2 3")
    torch.save({"arg0": 1}, "numbers.pt")
    torch.save(torch.ones(2, 3), "one.pt")
    Path("damaged.pt").write_bytes(b"\x80\x02}q")
    Path("machine.ttsys").write_text("#ttcore.system_desc<")
    Path("loop").symlink_to("loop")
    there = [path.name for path in Path().iterdir()]
    # Nothing outside of this folder: options write files, and the test may be root.
    return [*there, "nosuch.ttnn", "no/such/folder.json", "empty.ttnn/x", "", ".", "a" * 300, "caf\udce9.ttnn", "-",
            "--", "out.npz", "out.pt", "out.json", "new"]  # fmt: skip


def value(action: argparse.Action, paths: list[str], source: random.Random) -> str:
    if action.choices:
        return source.choice([*map(str, action.choices), "nosuch", ""])
    if action.dest in BY_NAME:
        return source.choice(BY_NAME[action.dest])
    name = str(action.metavar or action.dest)
    return source.choice(paths if re.match("FILE|DIR|A$|B$", name) else NUMBERS)


def commands() -> dict[str, argparse.ArgumentParser]:
    (action,) = (a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    return action.choices


def arguments(command: str, good: list[str], paths: list[str], source: random.Random) -> list[str]:
    words = [command]
    actions = commands()[command]._actions
    for _ in (a for a in actions if not a.option_strings):
        if source.random() < 0.95:
            words.append(source.choice(good) if source.random() < 0.5 else source.choice([*paths, *READ_ONLY]))
    options = [a for a in actions if a.option_strings and a.dest not in ("help", "debug")]
    for action in source.sample(options, min(len(options), source.randint(0, 4))):
        option = source.choice(action.option_strings)
        words += [option] if action.nargs == 0 else [f"{option}={value(action, paths, source)}"]
    if source.random() < 0.03:
        words.append(source.choice(["--nosuch", "-", "--", "extra", "--golden=1", "-x"]))
    return words


@pytest.mark.parametrize("command", COMMANDS)
def test_random_use(ttrt, files, seed, command):
    paths = make_files(files)
    source = random.Random(f"{seed}/{command}")
    codes = {0: 0, 1: 0, 2: 0}
    for _ in range(ROUNDS[command]):
        good = [files.one] if command == "compare" else [files.one, files.two, files.mesh]
        words = arguments(command, good, paths, source)
        found = ttrt(*words)
        said = f"{words}: {found.err}"
        assert found.code in codes, said
        codes[found.code] += 1
        assert "Traceback" not in found.err and "not foreseen" not in found.err, said
        if found.code == 2:
            assert re.match(r"ttrt( \w+)?: .*\(see ttrt", found.err) and found.err.count("\n") == 1, said
        elif found.code == 1 and not (command == "compare" and not found.err):
            assert found.err.startswith(f"ttrt {command}: ") and found.err.count("\n") == 1, said
            assert len(found.err) > len(f"ttrt {command}: ") + 3, said
    assert codes[0] and codes[2] and (codes[1] or command in ("query", "ops")), codes


ROUNDS = {"query": 60, "read": 120, "run": 200, "perf": 120, "compare": 80, "check": 100, "ops": 12}


@pytest.mark.parametrize(
    "arguments",
    [["run", "ONE", "--json"], ["run", "ONE", "--save-outputs"], ["perf", "ONE", "--json"], ["compare", "ONE", "ONE",
     "--json"], ["query", "--save"], ["query", "--result-file"], ["read", "ONE", "--result-file"]],
    ids=lambda words: f"{words[0]} {words[-1]}",
)  # fmt: skip
def test_an_output_that_cannot_be_written_is_told_before_the_work(ttrt, files, arguments):
    words = [files.one if a == "ONE" else a for a in arguments]
    Path("folder.npz").mkdir()
    Path("link.npz").symlink_to("no/such.npz")
    for path, message in (("no/such.npz", "no/such.npz: there is no folder no"),
                          ("link.npz", "link.npz: there is no folder no"),
                          ("folder.npz", "folder.npz: expected a file, not a folder")):  # fmt: skip
        found = ttrt(*words, path)
        assert (found.code, found.out) == (1, "")
        assert found.err == f"ttrt {words[0]}: {words[-1]} {message}\n"
