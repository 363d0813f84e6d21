# SPDX-License-Identifier: Apache-2.0
"""Build a module from its function, and lower it: the common part of the functions of `modules`."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ttmlir import ir, passes
from ttmlir.ir import Context, Location, Module
from ttmlir.options import CompileOptions, Given, OptionError, braced, options_of, split, written

from builder.base.builder import Builder
from builder.base.errors import TTBuilderCompileException, diagnostics_of, did_you_mean
from builder.base.open_shapes import OpenShapes

from .artifacts import FLATBUFFERS, LANGUAGES, Artifact, check_target, emitted, lowering_of, whole_pipeline

SYSTEM_DESC = "ttrt-artifacts/system_desc.ttsys"
NUMBER_OPS = "ttir-number-ops"


def builder_classes() -> dict[str, type[Builder]]:
    from builder.stablehlo.stablehlo_builder import StableHLOBuilder
    from builder.ttir.ttir_builder import TTIRBuilder
    from builder.ttnn.ttnn_builder import TTNNBuilder

    return {"ttir": TTIRBuilder, "ttnn": TTNNBuilder, "stablehlo": StableHLOBuilder}


def builder_class(dialect: str) -> type[Builder]:
    classes = builder_classes()
    if dialect not in classes:
        raise ValueError(f"no builder for {dialect!r}{did_you_mean(dialect, classes)}")
    return classes[dialect]


def dialect_of(builder: Builder) -> str:
    return next(name for name, cls in builder_classes().items() if isinstance(builder, cls))


def module_location(function: Callable[..., Any], context: Context) -> Location:
    """Returns the position of the module function; arguments, functions and returns have it, too."""
    code = getattr(function, "__code__", None)
    if code is None:
        return Location.unknown(context)
    return Location.file(os.path.abspath(code.co_filename), code.co_firstlineno, 0, context=context)


def built(
    mod: Callable[[Any], Any],
    builder_type: str,
    mesh_name: Any,
    mesh_dict: Any,
    system_desc_path: Any = None,
    sizes: OpenShapes | None = None,
) -> tuple[Module, Builder]:
    """Returns the module that a function makes, for the values in `sizes`, which takes the shapes of its inputs."""
    cls = builder_class(builder_type)
    context = Context()
    builder = cls(context, module_location(mod, context), mesh_name, mesh_dict, system_desc_path=system_desc_path)
    builder.open_shapes = sizes or OpenShapes()
    with context:
        return builder.build(mod), builder


@dataclass(frozen=True)
class Lowering:
    """The options of compiling a module; the fields are the keyword arguments of the compile functions.

    system_desc_path: description of the chip; one that is not there means the default chip.
    target: "ttnn", a flatbuffer of calls of the simulated library, "ttmetal", one of kernels for the simulated cores,
        "ttnn-mode", one of kernels on tensors of the library, "emitc", a C++ program, or "emitpy", a Python program.
    argument_types_string: which arguments are inputs, parameters or constants, as the pipeline's option takes it.
    custom_pipeline: name or function to run instead of the back end's pipeline.
    pipeline_options: options of that pipeline, and of the target's (see docs/options.md): a `ttmlir.CompileOptions`, or
        what that takes. ttir_pipeline_options says the same.
    shlo_pipeline_options, shlo_to_ttir_pipeline_options: of the pipelines before it, for StableHLO.
    print_ir: print the module after each pass that changed it, to stderr, or with a string into that folder; a function
        that is given as pipeline gets print_ir= as well.
    """

    system_desc_path: str | os.PathLike[str] | None = SYSTEM_DESC
    target: str = "ttnn"
    argument_types_string: str | None = None
    custom_pipeline: Callable[..., Any] | str | None = None
    pipeline_options: Given = None
    ttir_pipeline_options: Given = None
    shlo_pipeline_options: Given = None
    shlo_to_ttir_pipeline_options: Given = None
    print_ir: bool | str = False

    def options(self, mesh_shape: Sequence[int], system_desc_path: str | os.PathLike[str] | None) -> CompileOptions:
        """Returns the options of the lowering, and of emitting where the target is a language.

        Raises:
            OptionError: an option, or a value, that the target's pipeline does not take.
        """
        path = system_desc_path or self.system_desc_path
        own = CompileOptions(
            pipeline=whole_pipeline(self.target),
            mesh_shape=mesh_shape,
            system_desc_path=path if path and Path(path).exists() else None,
            argument_types=self.argument_types_string or None,
        )
        if self.custom_pipeline is not None:
            return own.with_([f"{name}={braced(value)}" for name, value in self._given() if self._is_emitting(name)])
        given = own.with_(self.pipeline_options).with_(self.ttir_pipeline_options)
        # An option that says which target it is.
        targets = {name: target for target, form in FLATBUFFERS.items() for name in form.fixed}
        for name, value in split(str(given)):
            if name in targets:
                raise OptionError(
                    f"option {name} is {value!r} for target {self.target!r}; expected no such option: "
                    f"target {targets[name]!r} sets it"
                )
        return given.with_(FLATBUFFERS[self.target].fixed) if self.target in FLATBUFFERS else given

    def custom_options(self, options: CompileOptions) -> str:
        """Returns the options of a pipeline of the caller, which may have others than those that are known."""
        return " ".join([str(options), *(f"{n}={braced(v)}" for n, v in self._given() if not self._is_emitting(n))])

    def _is_emitting(self, name: str) -> bool:
        return self.target in LANGUAGES and name in options_of(LANGUAGES[self.target].pipeline)

    def _given(self) -> Iterator[tuple[str, str]]:
        for options in (self.pipeline_options, self.ttir_pipeline_options):
            if isinstance(options, Mapping):
                yield from ((name.replace("_", "-"), written(name, value)) for name, value in options.items())
            else:
                yield from split(options if isinstance(options, str) else " ".join(options or ()))


def run_pipeline(
    module: Any, pipeline: Callable[..., Any] | str, options: Given, what: str, print_ir: bool | str = False
) -> None:
    """Runs a pipeline, given by function or name, in place; failures become TTBuilderCompileException."""
    if print_ir and callable(pipeline) and "print_ir" not in inspect.signature(pipeline).parameters:
        raise ValueError(f"print_ir is {print_ir!r}, but the pipeline {pipeline.__name__} takes no print_ir")
    try:
        if isinstance(pipeline, str):
            passes.run_pass(module, pipeline.strip().removeprefix("--"), options, print_ir)
        elif print_ir:
            pipeline(module, options, print_ir=print_ir)
        else:
            pipeline(module, options)
    except (ir.MLIRError, ValueError, RuntimeError) as error:
        diagnostics = diagnostics_of(error)
        raise TTBuilderCompileException(
            f"{what} failed" + ("" if diagnostics else f": {error}"), diagnostics
        ) from error


def keep_observed(module: Any, snapshot: Any) -> None:
    """Tells the compiler which values must exist in the program: those that are bypassed, or chosen to be compared."""
    sources = snapshot.intermediates.bypassed | (snapshot.intermediates.to_check or frozenset())
    if sources:
        with module.context:
            module.attributes["ttcore.observed"] = ir.DenseI64ArrayAttr.get(sorted(map(int, sources)))


def lower(module: Module, builder: Builder, mesh_shape: Sequence[int], how: Lowering) -> tuple[Artifact, Any, Any]:
    """Returns (the target's artifact, the lowered module, the goldens) of the module, which is not changed."""
    lowered, snapshot = lowered_module(module, builder, mesh_shape, how)
    options = how.options(mesh_shape, builder.system_desc_path)
    return emitted(lowered, how.target, options), lowered, snapshot


def lowered_module(
    module: Module, builder: Builder, mesh_shape: Sequence[int], how: Lowering, is_open: bool = False
) -> tuple[Any, Any]:
    """Returns (the lowered module, the goldens). is_open: lowered as for other sizes of the inputs."""
    check_target(how.target)
    dialect = dialect_of(builder)
    for name in ("shlo_pipeline_options", "shlo_to_ttir_pipeline_options"):
        if getattr(how, name) and dialect != "stablehlo":
            raise ValueError(f"{name} is {getattr(how, name)!r}: for StableHLO modules, and this one is of {dialect}")
    snapshot = builder.goldens.snapshot(module)
    clone = module.operation.clone(ip=False)
    keep_observed(clone, snapshot)
    if dialect == "stablehlo":
        # Numbers are given before anything changes, so that device results find the goldens of StableHLO ops.
        run_pipeline(clone, NUMBER_OPS, "", "numbering the ops")
        run_pipeline(clone, "stablehlo-pipeline", how.shlo_pipeline_options, "sharding", how.print_ir)
        given = how.shlo_to_ttir_pipeline_options
        run_pipeline(clone, "stablehlo-to-ttir-pipeline", given, "lowering StableHLO to TTIR", how.print_ir)
    form = lowering_of(how.target)
    what = "lowering to TTNN" if form.dialect == "ttnn" else "lowering to TTMetal"
    try:
        options = how.options(mesh_shape, builder.system_desc_path).of(form.pipeline)
    except OptionError as error:
        raise TTBuilderCompileException(f"{what} failed: {error}") from error
    if how.custom_pipeline is not None:
        run_pipeline(clone, how.custom_pipeline, how.custom_options(options), what, how.print_ir)
    else:
        run_pipeline(clone, form.pipeline, options.with_(open_sizes=True) if is_open else options, what, how.print_ir)
    return clone, snapshot
