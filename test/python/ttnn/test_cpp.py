# SPDX-License-Identifier: Apache-2.0
"""C++ programs that stand alone: built outside of the project, against what the package says of itself."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import ttnn

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "cpp"


def done(*command: str | Path, cwd: Path) -> str:
    """Returns the output of a command, which must succeed."""
    result = subprocess.run([str(part) for part in command], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.mark.long
@pytest.mark.skipif(not shutil.which("cmake"), reason="needs cmake")
def test_the_example_builds_outside_of_the_project(tmp_path: Path) -> None:
    source = shutil.copytree(EXAMPLES, tmp_path / "source")
    done("cmake", "-S", source, "-B", "build", f"-Dttrt_DIR={ttnn.config.cmake_dir()}", cwd=tmp_path)
    done("cmake", "--build", "build", cwd=tmp_path)
    assert "ops" in done(tmp_path / "build" / "attention", cwd=tmp_path)


def compiled(folder: Path, body: str) -> Path:
    (folder / "program.cpp").write_text(f"#include <ttnn/ttnn.hpp>\n#include <cstdio>\n{body}\n")
    compiler = os.environ.get("CXX") or next(filter(shutil.which, ("c++", "g++", "clang++")), None)
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    done(compiler, "program.cpp", *ttnn.config.compile_flags(), "-o", "program", cwd=folder)
    return folder / "program"


@pytest.mark.long
def test_a_program_in_one_file(tmp_path: Path) -> None:
    program = compiled(
        tmp_path,
        """
        int main() try {
          const auto x = ttnn::from_vector(std::vector<float>{1, 2, 3, 4}, {2, 2}, ttnn::DataType::FLOAT32);
          for (float value : ttnn::to_vector(ttnn::sum(x * 2, /*dim=*/{1})))
            std::printf("%g ", value);
          ttnn::matmul(x, ttnn::ones({3, 1}));
        } catch (const tt::Error &error) {
          std::printf("%s", error.what());
        }
        """,
    )
    assert done(program, cwd=tmp_path) == (
        "6 14 ttnn.matmul: inner dimensions 2 and 3 differ (shapes [2, 2] and [3, 1])"
    )


@pytest.mark.long
def test_a_wrong_argument_does_not_compile(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="softmax"):
        compiled(tmp_path, 'int main() { ttnn::softmax(ttnn::ones({2}), "last"); }')
