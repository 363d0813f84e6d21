# SPDX-License-Identifier: Apache-2.0
"""scripts/words.py: words of the glossary, first words of docstrings, subjects of commits."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "scripts" / "words.py"

spec = importlib.util.spec_from_file_location("words", SCRIPT)
assert spec and spec.loader
words = importlib.util.module_from_spec(spec)
sys.modules["words"] = words  # dataclasses look their module up
spec.loader.exec_module(words)


def found(text: str, path: str = "lib/a.cpp") -> list[str]:
    return list(words.wrong_words(path, text, words.rules()))


def test_the_error_names_place_word_and_replacement() -> None:
    assert found("int a;\nint wanted = 0;\n") == [
        "lib/a.cpp:2: 'wanted': say 'requested' or 'expected' or 'needed' (docs/glossary.md)"
    ]


@pytest.mark.parametrize(
    "text",
    ["bool isWanted;", "WANTED = 1", "wanted_rows", "# What is asked for", "ours beside PyTorch", "struct AtEnd {"],
)
def test_words_in_names_and_prose(text: str) -> None:
    assert len(found(text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "unwanted values",
        "a masked fill",
        "besides",
        "Finally, it ends",
        'save(weights="beside")',
        "try: ... finally: ...",
    ],
)
def test_other_words_pass(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "path", ["docs/a.md", "python/a.py", "frontends/torch/a.py", "lib/a.cpp", "runtime/a.cpp", "include/a.td"]
)
def test_constructions_in_prose(path: str) -> None:
    (error,) = found("takes a tensor\nthat is there, and frees it\n", path)
    assert error == f"{path}:2: 'that is there': say 'existing' (docs/glossary.md)"
    assert len(found("Nobody reads the weights as they lie.", path)) == 2
    assert found("Is somebody there? The caller is.", "include/a.h") == []


def test_names_of_files() -> None:
    (error,) = found("", "lib/Wholes.cpp")
    assert error.startswith("lib/Wholes.cpp: the file's name: 'wholes': say ")


def test_docstrings_of_public_functions() -> None:
    text = '''
def shape(x):
    """The shape of x."""

def size(x):
    """Returns the size of x."""

def _private(x):
    """A fragment."""

class Net:
    """A network."""

    def run(self):
        """One run."""
'''
    shape, run = words.wrong_docstrings("tools/a.py", text)
    assert shape.startswith("tools/a.py:3: the docstring of shape begins with 'The'; expected a verb, as 'Returns'")
    assert run.startswith("tools/a.py:15: the docstring of run begins with 'One'; expected a verb")


def test_openers_of_docstrings() -> None:
    text = '''"""What tests share."""

def _private(x):
    """Of a matrix."""

class Net:
    """The network.

    What it holds."""
'''
    module, private = words.wrong_docstrings("test/python/a.py", text)
    assert (
        module == "test/python/a.py:1: the docstring begins with 'What'; expected a noun or a verb (docs/glossary.md)"
    )
    assert private.startswith("test/python/a.py:4: the docstring begins with 'Of'")


def test_openers_of_comments() -> None:
    text = """/// Those of a trace.
int a;
  /// The names of what is kept,
  /// of a run.
  int b; // of a core
  // What follows is generated.
/// What a run gives.
struct Results {};
"""
    trace, run = words.wrong_comments("lib/a.h", text)
    assert trace.startswith("lib/a.h:1: the comment begins with 'Those'; expected a noun or a verb, as 'The' or")
    assert run.startswith("lib/a.h:7: the comment begins with 'What'")


def test_openers_of_descriptions() -> None:
    text = """let summary = "How a tensor lies.";
let summary = "The layout of a tensor.";
def A : B<"How", "What it is.">;
"""
    layout, what = words.wrong_descriptions("include/a.td", text)
    assert layout == (
        "include/a.td:1: the text begins with 'How'; expected a noun or a verb, as 'The layout' or 'Returns': "
        '"How a tensor lies."'
    )
    assert what.startswith("include/a.td:3: the text begins with 'What'")


def test_subjects(monkeypatch: pytest.MonkeyPatch) -> None:
    log = f"1234567 {'a' * 72}\n89abcde {'b' * 73}\n"
    monkeypatch.setattr(words, "git", lambda *arguments: log)
    (error,) = words.wrong_subjects()
    assert error == f"commit 89abcde: the subject has 73 characters; expected at most 72: {'b' * 73}"


def test_the_command() -> None:
    done = subprocess.run([sys.executable, SCRIPT, ROOT / "README.md"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
