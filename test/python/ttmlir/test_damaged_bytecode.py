# SPDX-License-Identifier: Apache-2.0
"""Bytecode nobody vouches for: damage that ends or hangs MLIR's reader is an error of the process that reads."""

from __future__ import annotations

import base64
import io
import multiprocessing
import random
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from builder.base.builder_apis import load_mlir_file
from builder.base.errors import TTBuilderCompileException
from ttmlir import apart
from ttmlir.dialects import stablehlo
from ttmlir.ir import Context, MLIRError, Module

INPUTS = Path(__file__).resolve().parents[2] / "ttmlir/Dialect/Vhlo/Inputs"
NAMES = sorted(path.name for path in INPUTS.glob("*.b64"))
TEXT = 'module { func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> { return %a : tensor<4xf32> loc("here") } }'


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apart, "CPU_SECONDS", 0.5)


def artifact(name: str) -> bytes:
    return base64.b64decode((INPUTS / name).read_bytes())


def text(module: Module) -> str:
    return str(module.operation.get_asm(enable_debug_info=True, print_generic_op_form=True))


def bytecode(source: str) -> bytes:
    stream = io.BytesIO()
    with Context():
        Module.parse(source).operation.write_bytecode(stream)
    return stream.getvalue()


@pytest.mark.parametrize("name", NAMES)
def test_reads_what_the_same_process_reads(name: str) -> None:
    with Context() as context:
        module = stablehlo.deserialize_portable_artifact(context, artifact(name))
        assert text(module) == text(stablehlo.deserialize_portable_artifact(context, artifact(name), trusted=True))


@pytest.mark.parametrize(
    ("name", "at", "value", "ending"),
    [
        ("bools.0.9.0.b64", 369, 255, "died of SIGSEGV"),
        ("collectives.1.15.0.b64", 949, 0, "died of SIGABRT"),
        # A type or attribute that refers to itself is read for ever.
        ("collectives.1.15.0.b64", 696, 5, "took longer than its limit of CPU time"),
        ("qr.1.15.0.b64", 254, 9, "took longer than its limit of CPU time"),
        ("scatter.1.0.0.b64", 193, 5, "took longer than its limit of CPU time"),
    ],
)
def test_damage_that_the_reader_does_not_survive(name: str, at: int, value: int, ending: str) -> None:
    data = bytearray(artifact(name))
    data[at] = value
    with Context() as context:
        with pytest.raises(MLIRError, match=f"the portable artifact is damaged: the process that read it {ending}"):
            stablehlo.deserialize_portable_artifact(context, bytes(data))
        stablehlo.deserialize_portable_artifact(context, artifact(name))  # by another one


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_mutations(name: str, request: pytest.FixtureRequest) -> None:
    """Every change of an artifact is read or refused."""
    original = artifact(name)
    generator = random.Random(f"{name} {request.config.getoption('seed', 0)}")
    refused = 0
    with Context() as context:
        for _ in range(150):
            data = bytearray(original)
            for _ in range(generator.choice([1, 1, 2, 8])):
                at = generator.randrange(len(data))
                match generator.randrange(4):
                    case 0:
                        data[at] ^= 1 << generator.randrange(8)
                    case 1:
                        data[at] = generator.choice([0, 1, 3, 0x7F, 0xFE, 0xFF])
                    case 2:
                        del data[at : at + generator.choice([1, 8])]
                    case _:
                        data[at:at] = generator.randbytes(generator.choice([1, 8]))
            try:
                str(stablehlo.deserialize_portable_artifact(context, bytes(data)))
            except MLIRError:
                refused += 1
    assert refused > 75


@pytest.mark.parametrize("trusted", [False, True])
def test_error_after_which_the_reader_goes_on(trusted: bool) -> None:
    """An integer attribute of the type f32 was reported, and was then in a module that cannot be printed."""
    data = bytearray(artifact("collectives.1.15.0.b64"))
    data[293] = 1
    with Context() as context, pytest.raises(MLIRError, match="expected integer or index type for IntegerAttr"):
        stablehlo.deserialize_portable_artifact(context, bytes(data), trusted=trusted)


def test_bytecode_of_the_builder() -> None:
    data = bytecode(TEXT)
    module, _ = load_mlir_file(data, target="stablehlo")
    assert "func.func @f" in str(module)
    with pytest.raises(TTBuilderCompileException, match="the bytecode cannot be read"):
        load_mlir_file(data[: len(data) // 2], target="stablehlo")


def test_unregistered_dialects() -> None:
    with Context() as context:
        context.allow_unregistered_dialects = True
        data = bytecode("module {}")
        stream = io.BytesIO()
        Module.parse('module { "other.op"() : () -> () }').operation.write_bytecode(stream)
        assert "other.op" in str(apart.read(context, stream.getvalue()))
        context.allow_unregistered_dialects = False
        with pytest.raises(MLIRError, match="other"):
            apart.read(context, stream.getvalue())
        apart.read(context, data)


def test_threads() -> None:
    def count(name: str) -> int:
        with Context() as context:
            return len(text(stablehlo.deserialize_portable_artifact(context, artifact(name))))

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(count, NAMES * 8)) == [count(name) for name in NAMES] * 8


def _length(name: str) -> int:
    with Context() as context:
        return len(text(stablehlo.deserialize_portable_artifact(context, artifact(name))))


def test_child_of_a_fork() -> None:
    """A child has a reader of its own, and that of its parent goes on."""
    expected = [_length(name) for name in NAMES]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(_length, NAMES * 2) == expected * 2
    assert [_length(name) for name in NAMES] == expected


def test_program_that_is_not_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    apart._close()
    monkeypatch.setattr(apart, "PROGRAM", tmp_path / "ttmlir-read")
    with Context() as context:
        with pytest.raises(FileNotFoundError, match="ttmlir-read, which reads bytecode apart, is not installed"):
            stablehlo.deserialize_portable_artifact(context, artifact(NAMES[0]))
        stablehlo.deserialize_portable_artifact(context, artifact(NAMES[0]), trusted=True)
