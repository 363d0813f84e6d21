# SPDX-License-Identifier: Apache-2.0
"""Build, compile, execute, load and split modules."""

from __future__ import annotations

import inspect
import os
import tempfile
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Dict, List, Literal, Optional, Tuple, Union  # noqa: UP035 - programs take these names from here

from golden.optional import torch
from ttmlir import passes
from ttmlir.bounds import bounds_of
from ttmlir.files import write_whole
from ttmlir.ir import Context, Module
from ttmlir.options import Given
from ttmlir.sizes import OpenSizeError

from builder.base import loading
from builder.base.builder import DEFAULT_MESH, Builder
from builder.base.builder_utils import (
    Operand,
    Shape,
    TypeInfo,
    get_artifact_dir,
    mesh_shape_of,
)
from builder.base.errors import TTBuilderCompileException
from builder.base.open_shapes import OpenShapes
from builder.execution.argument_checks import check_device, checked_arguments
from builder.execution.debugging import BreakpointCallback
from builder.execution.device_tensors import load_binary
from builder.execution.flatbuffers import execute_cpp, execute_fb, execute_py
from builder.execution.report import GoldenReport
from builder.execution.verdicts import Verdict
from builder.goldens.module_goldens import IntermediateGoldens, Programs
from builder.goldens.open_goldens import OpenGoldens

from .artifacts import FLATBUFFERS, Artifact, check_target, lowering_of
from .least_time import ShardingChoice, ShardingVariant, get_optimal_module_least_time
from .lowering import SYSTEM_DESC, Lowering, builder_class, built, dialect_of, lower
from .lowering import builder_classes as builder_classes
from .lowering import run_pipeline as run_pipeline
from .open_modules import Source, compiled
from .permutations import generate_all_module_permutations, get_optimal_module_least_num_collectives

Target = Literal["ttnn", "ttmetal", "ttnn-mode", "emitc", "emitpy"]

# ---------------------------------------------------------------------- building


@checked_arguments
def build_module(
    mod: Callable[[Any], Any],
    builder_type: Literal["ttir", "stablehlo", "ttnn"],
    mesh_name: str = "mesh",
    mesh_dict: Mapping[str, int] = DEFAULT_MESH,
    save_artifacts: bool = False,
    artifact_dir: str | os.PathLike[str] = ".",
    system_desc_path: str | os.PathLike[str] | None = None,
    sizes: Mapping[str, int] | None = None,
) -> tuple[Module, Builder]:
    """Builds the module that `mod` describes.

    Args:
        mod: called with the builder; makes functions with `@builder.func`.
        builder_type: "ttir", "ttnn" or "stablehlo".
        mesh_name, mesh_dict: the mesh, by its axes: OrderedDict([("x", 2), ("y", 4)]).
        save_artifacts: write <artifact_dir>/<builder_type>_module.mlir.
        sizes: values of the sizes that shapes of inputs name. A module has numbers; sizes that are not given have some.
    Returns:
        (module, builder). Goldens are in the builder and computed when requested.
    Raises:
        TTBuilderCompileException: an op that cannot be built, with the compiler's diagnostics.
    """
    shapes = OpenShapes(bounds_of(sizes))
    module, builder = built(mod, builder_type, mesh_name, mesh_dict, system_desc_path, shapes)
    shapes.check_names(sizes or {}, "sizes")
    if save_artifacts:
        save_module(module, Path(artifact_dir), builder_type)
    return module, builder


def save_module(module: Module, folder: Path, builder_type: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"{builder_type}_module.mlir", str(module) + "\n")


@checked_arguments
def experimental_build_stablehlo_module(
    fn: Callable[..., Any],
    inputs_shapes: Sequence[Sequence[int]],
    inputs_types: Sequence[Any] | None = None,
    mesh_name: str | Sequence[str] = ("mesh",),
    mesh_dict: Mapping[str, int] | Sequence[Mapping[str, int]] = (DEFAULT_MESH,),
    save_artifacts: bool = False,
    base: str | None = None,
    output_root: str | os.PathLike[str] = ".",
) -> tuple[Module, Builder]:
    """Builds a StableHLO module of one function, which `fn(*operands, builder)` describes.

    Args:
        inputs_types: of the arguments; float32 if there is no list.
        mesh_name, mesh_dict: the mesh, or the meshes, by name.
        save_artifacts: write <output_root>/<base>/stablehlo_module.mlir; base is the name of `fn` unless given.
    Returns, Raises: as `build_module`.
    """
    types = [torch.float32] * len(inputs_shapes) if inputs_types is None else inputs_types

    def module(builder: Any) -> None:
        builder.func(inputs_shapes, types)(fn)

    result, builder = built(module, "stablehlo", mesh_name, mesh_dict)
    if save_artifacts:
        save_module(result, Path(output_root) / (base or fn.__name__), "stablehlo")
    return result, builder


@checked_arguments
def load_mlir_file(
    mlir_text: str | bytes,
    golden_inputs: Mapping[str, Sequence[Any]] | None = None,
    target: Literal["ttir", "ttnn", "stablehlo"] = "ttir",
    deallocate_goldens: bool = False,
    test_base: str = "test",
    output_root: str | os.PathLike[str] = ".",
) -> tuple[Module, Builder]:
    """Reads a module from its text; goldens of all its ops are known to the builder.

    Args:
        mlir_text: the text, or the bytes of a portable artifact or of bytecode.
        golden_inputs: by function, the values of its arguments; random ones where it is not named.
        target: the dialect of the module.
        deallocate_goldens, test_base, output_root: accepted for existing programs; goldens are computed on demand and
            nothing is written.
    Raises:
        TTBuilderCompileException: the text does not parse or verify; has the diagnostics.
        ValueError: inputs for no function, of another number, or of other shapes; a path.
        TypeError: no text.
    """
    if isinstance(mlir_text, str) and mlir_text.endswith(".mlir") and "\n" not in mlir_text:
        raise ValueError(
            f"load_mlir_file: mlir_text is {mlir_text!r}; expected the text of a module, not the path of one"
        )
    return loading.load_module(builder_class(target), Context(), mlir_text, golden_inputs)


@checked_arguments
def split_mlir_file(
    module: Module, builder: Builder, target: Literal["ttir", "ttnn", "stablehlo"] = "ttir"
) -> list[tuple[Module, Builder]]:
    """Returns a module for each op, in program order: a function of the op's own operands.

    The goldens are those that the op had in `module`, which is not changed. Ops of a function that is called several
    times come once for each call.
    """
    builder_class(target)
    return loading.split_module(module, builder)


# ---------------------------------------------------------------------- compiling


def save_texts(folder: Path, dialect: str, module: Any, lowered: Any, target: str) -> Path:
    """Writes the module and the lowered module; returns the path of the latter."""
    folder.mkdir(parents=True, exist_ok=True)
    write_whole(folder / f"test_{dialect}.mlir", f"{module}\n")
    path = folder / f"{lowering_of(target).dialect}_compiled.mlir"
    write_whole(path, f"{lowered}\n")
    return path


@checked_arguments
def compile_module_to_flatbuffer(
    module: Module,
    builder: Builder,
    system_desc_path: str | os.PathLike[str] | None = SYSTEM_DESC,
    artifact_dir: str | os.PathLike[str] = ".",
    target: Target = "ttnn",
    mesh_dict: Mapping[str, int] | None = None,
    save_artifacts: bool = False,
    argument_types_string: str | None = None,
    custom_pipeline: Callable[..., Any] | str | None = None,
    pipeline_options: Given = None,
    print_ir: bool | str = False,
    input_output_goldens: Mapping[int, Any] | None = None,
    intermediate_goldens: Mapping[str, Any] | None = None,
) -> tuple[Any, Mapping[int, Any], Mapping[str, Any]]:
    """Compiles a module of any dialect that has a builder; the module itself is not changed.

    Args:
        builder: the module's builder, which knows its goldens and its mesh; mesh_dict replaces the latter.
        save_artifacts: write the module, the lowered module and its outputs to artifact_dir.
        input_output_goldens, intermediate_goldens: returned instead of the computed ones.
        Others: see `Lowering`.
    Returns:
        (binary, goldens of inputs and outputs by program, goldens of ops by number), as `execute_fb` takes them. In the
        place of the binary, "emitc" and "emitpy" have the path of the program when artifacts are saved, else its text.
    Raises:
        TTBuilderCompileException: a pass refused the module; has the diagnostics.
    """
    how = Lowering(
        system_desc_path, target, argument_types_string, custom_pipeline, pipeline_options, print_ir=print_ir
    )
    mesh_shape = builder.mesh_shape if mesh_dict is None else mesh_shape_of(mesh_dict)
    artifact, lowered, snapshot = lower(module, builder, mesh_shape, how)
    compiled = load_binary(artifact.data) if target in FLATBUFFERS else artifact.data
    if save_artifacts:
        save_texts(Path(artifact_dir), dialect_of(builder), module, lowered, target)
        path = artifact.write(artifact_dir)
        compiled = compiled if target in FLATBUFFERS else path
    programs = snapshot.programs if input_output_goldens is None else input_output_goldens
    intermediates = snapshot.intermediates if intermediate_goldens is None else intermediate_goldens
    return compiled, programs, intermediates


def flatbuffer_compiler(
    dialect: str, name: str
) -> Callable[..., tuple[Builder, str | bytes, Programs | OpenGoldens, IntermediateGoldens]]:
    """Returns the compile function of a dialect."""

    def compile_to_flatbuffer(
        fn: Callable[[Any], Any],
        system_desc_path: str | os.PathLike[str] | None = SYSTEM_DESC,
        artifact_dir: str | os.PathLike[str] | None = ".",
        target: Target = "ttnn",
        mesh_name: str = "mesh",
        mesh_dict: Mapping[str, int] = DEFAULT_MESH,
        save_artifacts: bool = False,
        argument_types_string: str | None = None,
        custom_pipeline: Callable[..., Any] | str | None = None,
        pipeline_options: Given = None,
        print_ir: bool | str = False,
        ttir_pipeline_options: Given = None,
        shlo_pipeline_options: Given = None,
        shlo_to_ttir_pipeline_options: Given = None,
        output_root: str | os.PathLike[str] | None = None,
        sizes: Mapping[str, Any] | None = None,
    ) -> tuple[Builder, str | bytes, Programs | OpenGoldens, IntermediateGoldens]:
        how = Lowering(
            system_desc_path, target, argument_types_string, custom_pipeline, pipeline_options, ttir_pipeline_options,
            shlo_pipeline_options, shlo_to_ttir_pipeline_options, print_ir,
        )  # fmt: skip
        check_target(target)
        produced = compiled(Source(fn, dialect, mesh_name, mesh_dict, how), sizes)
        root = artifact_dir if output_root is None else output_root
        if root is None:
            return produced.builder, produced.artifact.data, produced.programs, produced.intermediates
        folder = Path(root) / f"{dialect}-builder-artifacts" / target
        path = produced.artifact.write(folder)
        if save_artifacts:
            # Programs of the ecosystem name the folder that they read from, others the root of all.
            texts = folder if artifact_dir in (".", None) else Path(artifact_dir)
            save_texts(texts, dialect, produced.module, produced.lowered, target)
        return produced.builder, path, produced.programs, produced.intermediates

    return named(
        compile_to_flatbuffer,
        name,
        f"""Build a {dialect} module from `fn` and compile it.

        What the target makes is written to <output_root>/{dialect}-builder-artifacts/<target>/test_ttnn.mlir.ttnn (.cpp
        for "emitc", .py for "emitpy", with constants in a folder next to it; test_ttmetal.mlir.ttm for "ttmetal").
        save_artifacts also writes the modules test_{dialect}.mlir and ttnn_compiled.mlir, there or in artifact_dir.
        artifact_dir says the same as output_root; None writes nothing. Arguments: see `build_module` and `Lowering`.
        sizes: bounds of the sizes that shapes of inputs name, {{"batch": (2, 64)}}; None as the second has no end, one
        number is the size. Sizes without bounds take any number.

        Returns:
            (builder, path of what was written, goldens of inputs and outputs by program, goldens of ops by number).
            When nothing is written, the place of the path is taken by the flatbuffer's bytes, or the program's text.
            With open sizes, `goldens.at(batch=8)` has those of other sizes, which `execute_fb(..., at=)` runs.
        Raises:
            OpenSizeError: a size decides what is computed; names op and attribute.
            TTBuilderCompileException: an op cannot be built, or a pass refused the module; has the diagnostics.
        """,
    )


def execute_emitted(
    artifact: Artifact, goldens: Any, device: Any, save_artifacts: bool, folder: str, **how: Any
) -> GoldenReport:
    """Runs an emitted program from `folder` when it was saved there, else from one that is gone afterwards."""
    run = execute_cpp if artifact.target == "emitc" else execute_py
    if save_artifacts:
        path = Path(folder) / artifact.name
        return run(path, goldens, device=device, save_artifacts=True, artifact_dir=folder, **how)
    with tempfile.TemporaryDirectory() as scratch:
        return run(artifact.write(scratch), goldens, device=device, **how)


def check_lookers(target: str, **request: bool) -> None:
    """
    Raises:
        ValueError: values of ops, or their memory, are requested of a program that is run as a whole.
    """
    refused = [name for name, requested in request.items() if requested]
    if refused and target not in FLATBUFFERS:
        raise ValueError(
            f"{', '.join(refused)}: a program of the target {target!r} is compared by its outputs; "
            'target="ttnn" has the value of every op'
        )


def executor(dialect: str, name: str) -> Callable[..., GoldenReport]:
    """Returns the build-compile-execute function of a dialect."""

    def compile_and_execute(
        fn: Callable[[Any], Any],
        system_desc_path: str | os.PathLike[str] | None = SYSTEM_DESC,
        test_base: str = "test",
        output_root: str | os.PathLike[str] = ".",
        target: Target = "ttnn",
        mesh_name: str = "mesh",
        mesh_dict: Mapping[str, int] = DEFAULT_MESH,
        save_artifacts: bool = False,
        argument_types_string: str | None = None,
        custom_pipeline: Callable[..., Any] | str | None = None,
        pipeline_options: Given = None,
        print_ir: bool | str = False,
        device: Any = None,
        pcc: float = 0.99,
        atol: float | None = None,
        rtol: float | None = None,
        disable_golden: bool = False,
        skip_exec: bool = False,
        check_pcc: bool = True,
        check_atol: bool = False,
        check_rtol: bool = False,
        enable_intermediate_verification: bool = False,
        dump_memory: bool = False,
        breakpoint_callback: BreakpointCallback | None = None,
        ttir_pipeline_options: Given = None,
        shlo_pipeline_options: Given = None,
        shlo_to_ttir_pipeline_options: Given = None,
        exact: bool = False,
        sizes: Mapping[str, Any] | None = None,
        at: Mapping[str, int] | None = None,
        inputs: Sequence[Any] | Mapping[str, Sequence[Any]] | None = None,
    ) -> GoldenReport:
        how = Lowering(
            system_desc_path, target, argument_types_string, custom_pipeline, pipeline_options, ttir_pipeline_options,
            shlo_pipeline_options, shlo_to_ttir_pipeline_options, print_ir,
        )  # fmt: skip
        check_target(target)
        Verdict(pcc, atol, rtol, check_pcc, check_atol, check_rtol)
        check_device(name, device)
        check_lookers(
            target, enable_intermediate_verification=enable_intermediate_verification, dump_memory=dump_memory,
            breakpoint_callback=breakpoint_callback is not None,
        )  # fmt: skip
        produced = compiled(Source(fn, dialect, mesh_name, mesh_dict, how), sizes)
        if (at is not None or inputs is not None) and not isinstance(produced.programs, OpenGoldens):
            raise ValueError(f"{'inputs' if at is None else 'at'} is for programs whose input shapes name sizes")
        folder, path = ".", None
        if save_artifacts or dump_memory:
            folder = get_artifact_dir(output_root, type(produced.builder).__name__, test_base)
        if save_artifacts:
            path = save_texts(Path(folder), dialect, produced.module, produced.lowered, target)
            produced.artifact.write(folder)
        if skip_exec:
            return GoldenReport(pcc=pcc, path=path)
        if target not in FLATBUFFERS:
            report = execute_emitted(
                produced.artifact, produced.programs, device, save_artifacts, folder, pcc=pcc, atol=atol, rtol=rtol,
                disable_golden=disable_golden, check_pcc=check_pcc, check_atol=check_atol, check_rtol=check_rtol,
                exact=exact,
            )  # fmt: skip
        else:
            report = execute_fb(
                produced.artifact.data, produced.programs, produced.intermediates, pcc, atol, rtol, disable_golden,
                device, check_pcc, check_atol, check_rtol, enable_intermediate_verification, None, save_artifacts,
                folder, dump_memory, breakpoint_callback, exact, inputs=inputs, at=at,
            )  # fmt: skip
        report.path = path
        return report

    return named(
        compile_and_execute,
        name,
        f"""Build a {dialect} module from `fn`, compile it, run it and compare every output with its golden.

        Files are written only with save_artifacts or dump_memory, to
        <output_root>/<the builder's class>-builder-artifacts/<test_base>.
        Arguments: see `build_module`, `Lowering` and `execute_fb`. Programs of the targets "emitc" and "emitpy" are
        compared by their outputs; what looks at single ops is for "ttnn".
        sizes: as compiling takes it; at, inputs: the sizes of the run, as `execute_fb` takes them.

        Returns:
            The report, as `execute_fb` does; an empty one with skip_exec. With save_artifacts it stands for the path of
            the lowered module, ttnn_compiled.mlir, where a path is expected: `open(report)`.
        Raises:
            TTBuilderCompileException, TTBuilderRuntimeException, TTBuilderGoldenException.
        """,
    )


def named(function: Callable[..., Any], name: str, documentation: str) -> Any:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = inspect.cleandoc(documentation)
    return checked_arguments(function)


compile_ttir_to_flatbuffer = flatbuffer_compiler("ttir", "compile_ttir_to_flatbuffer")
compile_ttnn_to_flatbuffer = flatbuffer_compiler("ttnn", "compile_ttnn_to_flatbuffer")
compile_stablehlo_to_flatbuffer = flatbuffer_compiler("stablehlo", "compile_stablehlo_to_flatbuffer")
compile_and_execute_ttir = executor("ttir", "compile_and_execute_ttir")
compile_and_execute_ttnn = executor("ttnn", "compile_and_execute_ttnn")
compile_and_execute_shlo = executor("stablehlo", "compile_and_execute_shlo")
compile_ttir_module_to_flatbuffer = compile_module_to_flatbuffer
stablehlo_pipeline = checked_arguments(passes.stablehlo_pipeline)

__all__ = [
    "Any",
    "Callable",
    "Dict",
    "GoldenReport",
    "List",
    "Literal",
    "OpenSizeError",
    "Operand",
    "Optional",
    "OrderedDict",
    "Shape",
    "ShardingChoice",
    "ShardingVariant",
    "TTBuilderCompileException",
    "Tuple",
    "TypeInfo",
    "Union",
    "build_module",
    "compile_and_execute_shlo",
    "compile_and_execute_ttir",
    "compile_and_execute_ttnn",
    "compile_module_to_flatbuffer",
    "compile_stablehlo_to_flatbuffer",
    "compile_ttir_module_to_flatbuffer",
    "compile_ttir_to_flatbuffer",
    "compile_ttnn_to_flatbuffer",
    "execute_cpp",
    "execute_fb",
    "execute_py",
    "experimental_build_stablehlo_module",
    "generate_all_module_permutations",
    "get_optimal_module_least_num_collectives",
    "get_optimal_module_least_time",
    "load_mlir_file",
    "split_mlir_file",
    "stablehlo_pipeline",
]
