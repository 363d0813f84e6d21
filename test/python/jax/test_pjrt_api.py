# SPDX-License-Identifier: Apache-2.0
"""The plugin's C functions, called as a front end of another version would call them."""

from __future__ import annotations

import ctypes

import pytest

pytest.importorskip("jax", reason="jax is not installed: pip install 'ttmlir[jax]'")
from pjrt_plugin_tt import library_path

FAILED_PRECONDITION, UNIMPLEMENTED = 9, 12
ERROR_DESTROY, ERROR_MESSAGE, ERROR_CODE, INITIALIZE = range(4)  # places in the table
LAYOUTS, SHARDINGS = 4, 19  # types of extensions
DONATE = -4  # PJRT_Buffer_DonateWithControlDependency, from the end


class Arguments(ctypes.Structure):
    """The arguments of every function: its size, extensions, and fields of its own."""

    _fields_ = (("size", ctypes.c_size_t), ("extension", ctypes.c_void_p), ("fields", ctypes.c_void_p * 30))


class Api:
    HEAD = 2 * 8 + 24  # size, extensions, version

    def __init__(self) -> None:
        library = ctypes.CDLL(str(library_path()))
        library.GetPjrtApi.restype = ctypes.c_void_p
        self.address = library.GetPjrtApi()
        size = ctypes.c_size_t.from_address(self.address).value
        self.count, rest = divmod(size - self.HEAD, 8)
        assert rest == 0

    def version(self) -> tuple[int, int]:
        pair = (ctypes.c_int * 2).from_address(self.address + 2 * 8 + 16)
        return pair[0], pair[1]

    def call(self, place: int, arguments: Arguments) -> int | None:
        address = ctypes.c_void_p.from_address(self.address + self.HEAD + 8 * (place % self.count)).value
        assert address, f"function {place} is not in the table"
        return ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p)(address)(ctypes.addressof(arguments))

    def error(self, error: int | None) -> tuple[int, str]:
        assert error
        code, message = Arguments(size=28), Arguments(size=40)
        code.fields[0] = message.fields[0] = error
        assert self.call(ERROR_CODE, code) is None
        self.call(ERROR_MESSAGE, message)
        text = ctypes.string_at(message.fields[1], message.fields[2]).decode()
        found = (code.fields[1] & 0xFFFFFFFF, text)
        self.call(ERROR_DESTROY, Arguments(size=24, fields=(error,)))
        return found


@pytest.fixture(scope="module")
def api():
    return Api()


def test_the_version_and_that_no_function_is_left_out(api):
    assert api.version() == (0, 93)
    for place in range(api.count):
        assert ctypes.c_void_p.from_address(api.address + api.HEAD + 8 * place).value, place


def test_extensions_whose_absence_costs_conversions_to_hlo(api):
    """jaxlib would make HLO of the optimized program for each question about layouts or shardings."""
    functions = {}
    extension = ctypes.c_void_p.from_address(api.address + 8).value
    while extension:
        size, kind = ctypes.c_size_t.from_address(extension).value, ctypes.c_int.from_address(extension + 8).value
        functions[kind] = [ctypes.c_void_p.from_address(extension + at).value for at in range(24, size, 8)]
        extension = ctypes.c_void_p.from_address(extension + 16).value
    assert len(functions[LAYOUTS]) == 7 and all(functions[LAYOUTS])
    assert len(functions[SHARDINGS]) == 2 and all(functions[SHARDINGS])


def test_the_plugin_starts(api):
    assert api.call(INITIALIZE, Arguments(size=16)) is None


def test_a_front_end_of_an_older_version_is_refused(api):
    code, message = api.error(api.call(INITIALIZE, Arguments(size=8)))
    assert code == FAILED_PRECONDITION
    assert "PJRT_Plugin_Initialize" in message and "8 bytes, expected 16" in message and "API 0.93" in message


def test_a_function_that_is_missing_says_its_name(api):
    code, message = api.error(api.call(DONATE, Arguments(size=48)))
    assert code == UNIMPLEMENTED
    assert "PJRT_Buffer_DonateWithControlDependency is not implemented" in message
