# SPDX-License-Identifier: Apache-2.0
"""Where C++ programs find the library: headers, libttrt.so and its CMake package.

They lie in the package ttrt, next to the extension, in an installation as in the build folder:

    c++ -std=c++20 -I$(python -c 'import ttnn; print(ttnn.config.include_dir())') program.cpp ...
"""

from __future__ import annotations

from pathlib import Path

import _ttmlir_runtime


def _folder(*parts: str) -> str:
    path = Path(_ttmlir_runtime.__file__).parent.joinpath("ttrt", *parts)
    if not path.is_dir():
        raise FileNotFoundError(f"{path} is missing; install the package, or build the target ttrt-headers")
    return str(path)


def include_dir() -> str:
    """Returns the folder for -I: it has ttnn/ttnn.hpp."""
    return _folder("include")


def library_dir() -> str:
    """Returns the folder for -L: it has libttrt.so."""
    return _folder("lib")


def cmake_dir() -> str:
    """Returns the folder for -Dttrt_DIR=, so that find_package(ttrt) gives the target ttrt::ttrt."""
    return _folder("lib", "cmake", "ttrt")


def _link_flags(library: str) -> list[str]:
    folder = library_dir()
    # GCC can be set up to drop a library that nothing before it needs.
    return [f"-I{include_dir()}", f"-L{folder}", f"-Wl,-rpath,{folder}", "-Wl,--no-as-needed", f"-l{library}"]


def compile_flags() -> list[str]:
    """Returns what a compiler needs to build and link a program that includes ttnn/ttnn.hpp, before the program or
    after it."""
    return ["-std=c++20", *_link_flags("ttrt")]


def backend_flags() -> list[str]:
    """Returns the same for a program that includes tt_backend.hpp and loads device images; C++17 or later, which it
    chooses.

    Raises:
        FileNotFoundError: the library was built without device images.
    """
    if not Path(library_dir(), "libttbackend.so").exists():
        raise FileNotFoundError(
            f"{library_dir()} has no libttbackend.so; install libzip-dev and nlohmann-json3-dev, and build again"
        )
    # The last is for std::experimental::filesystem, which is no part of the C++ library's shared half.
    return [*_link_flags("ttbackend"), "-lstdc++fs"]
