# SPDX-License-Identifier: Apache-2.0
"""`ttmlir-import-onnx`: ONNX files as modules, flatbuffers and programs."""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .errors import OnnxError

EXAMPLES = """examples:
  ttmlir-import-onnx model.onnx -o model.mlir --sizes batch=4     StableHLO and TTIR, for ttmlir-opt
  ttmlir-import-onnx model.onnx -o model.ttnn --weights inside    a flatbuffer for any sizes, for ttrt run
  ttmlir-import-onnx model.onnx --describe                        inputs, outputs and ops

exit codes: 0 done; 1 the model is wrong, or has no form on the chip; 2 wrong usage"""


def sizes(text: str) -> dict[str, Any]:
    """Reads "batch=4,length=2:64" as sizes and bounds."""
    found: dict[str, Any] = {}
    for part in text.split(","):
        name, equal, value = part.rpartition("=")
        numbers = value.split(":")
        if (
            not equal
            or not name
            or len(numbers) > 2
            or not all(n.isdecimal() for n in numbers if n or len(numbers) > 1)
        ):
            raise argparse.ArgumentTypeError(f"{part!r} is no size; expected name=4 or name=2:64")
        if not numbers[0]:
            raise argparse.ArgumentTypeError(f"{part!r} is no size; expected name=4 or name=2:64")
        found[name] = int(numbers[0]) if len(numbers) == 1 else (int(numbers[0]), int(numbers[1]))
    return found


def parser() -> argparse.ArgumentParser:
    result = argparse.ArgumentParser(
        "ttmlir-import-onnx", description=__doc__, epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    result.add_argument("file", metavar="FILE.onnx")
    result.add_argument(
        "-o", "--output", metavar="FILE", default="-",
        help="by its suffix: .mlir (also -, standard output), .ttnn, .cpp, .py, .safetensors (weights alone)",
    )  # fmt: skip
    result.add_argument("--level", choices=("stablehlo", "ttir", "ttnn"), default="stablehlo",
                      help="of a .mlir: as imported, or behind the pipelines (default: %(default)s)")  # fmt: skip
    result.add_argument("--sizes", type=sizes, default={}, metavar="NAME=N,...",
                      help="sizes of dimensions that have none, or bounds (NAME=2:64)")  # fmt: skip
    result.add_argument("--weights", choices=("beside", "inside"), default="beside",
                      help="inputs with values in a .safetensors, or constants (default: %(default)s)")  # fmt: skip
    result.add_argument("--options", default="", help="of ttir-to-ttnn-backend-pipeline, as in docs/options.md")
    result.add_argument(
        "--describe", action="store_true", help="print inputs, outputs, opsets and ops, and write nothing"
    )
    result.add_argument("--debug", action="store_true", help="print a stack trace with an error")
    return result


def describe(model: Any) -> str:
    """Returns a description of a model, one line per property."""
    lines = [f"{model.path}"]
    lines += [f"  opset {domain} {version}" for domain, version in model.opsets.items()]
    for what, values in (("input", model.inputs), ("optional input", model.model.optional), ("output", model.outputs)):
        lines += [f"  {what} {value.name}: {value}" for value in values]
    lines += [f"  {count} {op}" for op, count in model.ops.items()]
    return "\n".join(lines)


def run(args: argparse.Namespace) -> None:
    """
    Raises:
        OnnxError, OSError, ValueError: see `compile` and `save`.
    """
    from .model import require_onnx

    require_onnx()
    from .compiled import compile, load
    from .saved import save_module

    if args.describe:
        print(describe(load(args.file, args.sizes)))
        return
    target = None if args.output == "-" else Path(args.output)
    if target is not None and target.suffix != ".mlir":
        compile(args.file, sizes=args.sizes, options=args.options).save(target, args.weights)
        return
    model = load(args.file, args.sizes, args.options)
    if model.sizes:
        names = ", ".join(model.sizes)
        raise OnnxError(f"{args.file}: a module has fixed sizes; give {names} by --sizes, or write a .ttnn")
    save_module(model, target, args.level, args.weights)


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the tool; returns the exit code."""
    args = parser().parse_args(argv)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(args)
        return 0
    except BrokenPipeError:
        return 1
    except (OnnxError, OSError, ValueError) as error:
        if args.debug:
            raise
        name = error.filename if isinstance(error, OSError) and error.filename else ""
        text = f"{name}: {error.strerror}" if name and isinstance(error, OSError) else " ".join(str(error).split())
        print(f"ttmlir-import-onnx: {text}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
