# SPDX-License-Identifier: Apache-2.0
"""Defines the layers of the project and reads what every file includes and imports."""

from __future__ import annotations

import ast
import os
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]


@dataclass(frozen=True)
class Layer:
    """paths: folders (ending in /) and files; the longest that fits a file decides.

    uses: layers; what these use may be used, too.
    """

    paths: str
    uses: str = ""


FAMILIES = (
    "kernels.elementwise kernels.matmul kernels.window kernels.attention kernels.normalization kernels.exact "
    "kernels.others"
)
LAYERS = {
    # What the compiler and the runtime both know: the schemas and the tables of functions and tile operations.
    "schema": Layer(
        "include/ttmlir/Target/TTNN/Schema.h include/ttmlir/Target/TTNN/Api.h lib/Target/Api/ "
        "include/ttmlir/Target/TTMetal/CoreTypes.def include/ttmlir/Target/TTMetal/TileOps.def "
        "include/ttmlir/Target/OutputFile.h"
    ),
    "scalars": Layer("include/ttmlir/scalars/ lib/scalars/"),
    "shapes": Layer("include/ttmlir/shapes/ lib/shapes/"),
    "costs": Layer("include/ttmlir/costs/ lib/costs/", "shapes"),
    # The runtime: nothing of MLIR.
    "base": Layer("runtime/lib/base/ runtime/include/tt/", "schema"),
    "sim": Layer("runtime/lib/sim/ runtime/include/tt/sim/", "base costs"),
    "mpi": Layer("runtime/mpi/", "sim"),
    "tensor": Layer("runtime/lib/tensor/ runtime/include/tt/ttnn/tensor.h", "sim"),
    "core": Layer(
        "runtime/lib/core/ runtime/include/tt/ttnn/kernel.h runtime/include/tt/ttnn/host_call.h "
        "runtime/include/tt/ttnn/fabric.h runtime/include/tt/ttnn/orders.h",
        "tensor costs scalars",
    ),
    "kernels.elementwise": Layer("runtime/lib/kernels/elementwise/", "core"),
    "kernels.matmul": Layer("runtime/lib/kernels/matmul/", "kernels.elementwise"),
    "kernels.window": Layer("runtime/lib/kernels/window/", "kernels.matmul"),
    "kernels.attention": Layer("runtime/lib/kernels/attention/", "core"),
    "kernels.normalization": Layer("runtime/lib/kernels/normalization/", "kernels.elementwise"),
    "kernels.exact": Layer("runtime/lib/kernels/exact/", "kernels.matmul kernels.window"),
    "kernels.others": Layer("runtime/lib/kernels/", "core"),
    "binary": Layer("runtime/lib/binary/ runtime/include/tt/runtime/binary.h", "core"),
    "run": Layer("runtime/lib/run/ runtime/include/tt/runtime/run.h", f"binary {FAMILIES}"),
    "program": Layer("runtime/lib/program/ runtime/include/tt/runtime/memory_map.h", "run"),
    "metal": Layer("runtime/lib/metal/ runtime/include/tt/metal/", "run"),
    "api": Layer(
        "runtime/lib/api/ runtime/include/tt/runtime/ runtime/include/tt/ttnn/ runtime/include/ttnn/", "program metal"
    ),
    # Device images in C++.
    "backend": Layer(
        "runtime/backend/ runtime/include/tt_backend.hpp runtime/include/tt_backend_api.hpp "
        "runtime/include/tt_backend_api_types.hpp runtime/include/io_utils.h",
        "api",
    ),
    "runtime.python": Layer("runtime/python/ runtime/tools/", "api"),
    # The compiler: nothing of the runtime.
    "dialects": Layer(
        "include/ttmlir/Dialect/ lib/Dialect/ include/ttmlir/Target/TTNN/AttributeVisitor.h",
        "schema costs scalars",
    ),
    "passes": Layer(
        " ".join(
            f"{side}/Dialect/{dialect}/Transforms/"
            for side in ("include/ttmlir", "lib")
            for dialect in ("TTCore", "TTIR", "TTNN", "TTKernel", "D2M", "Vhlo", "Sdy", "StableHLO")
        ),
        "dialects",
    ),
    "target": Layer("include/ttmlir/Target/ lib/Target/", "passes"),
    "conversion": Layer("include/ttmlir/Conversion/ lib/Conversion/", "passes target pipelines.options"),
    "pipelines.options": Layer(
        "include/ttmlir/Dialect/TTNN/Pipelines/ include/ttmlir/Dialect/TTMetal/Pipelines/", "passes"
    ),
    "pipelines": Layer("lib/Dialect/TTNN/Pipelines/ lib/Dialect/TTMetal/Pipelines/", "conversion"),
    "compiler": Layer(
        "lib/InitAll/ lib/CAPI/ include/ttmlir/InitAll.h include/ttmlir/InitOptional.h include/ttmlir-c/",
        "pipelines conversion",
    ),
    "compiler.tools": Layer(
        "tools/ttmlir-opt/ tools/ttmlir-translate/ tools/ttmlir-lsp-server/ tools/Version.h python/", "compiler"
    ),
    # Describes the ops at build time, from what TableGen reads.
    "opgen": Layer("tools/opgen/"),
    # Python.
    "ttmlir": Layer("python/ttmlir/", "compiler.tools"),
    "ttnn": Layer("python/ttnn/"),
    # JAX's platform: C++ over both.
    "pjrt": Layer("plugin/pjrt/", "api compiler"),
    "stablehlo": Layer("frontends/stablehlo/", "ttmlir"),
    "jax": Layer("frontends/jax/", "stablehlo"),
    "pjrt.python": Layer("frontends/pjrt_plugin_tt/"),
    "golden": Layer("python/golden/"),
    "torch": Layer("frontends/torch/ frontends/torch_ttnn/", "ttmlir golden"),
    "onnx": Layer("frontends/onnx/", "stablehlo"),
    "pybuda": Layer("frontends/pybuda/", "torch onnx profiler"),
    "ttl": Layer("frontends/ttl/", "ttnn"),
    # Models, and what tools tell of them.
    "torch_zoo": Layer("tools/torch_zoo/"),
    "onnx_zoo": Layer("tools/onnx_zoo/", "onnx"),
    "torch_stat": Layer("tools/torch_stat/", "torch"),
    "tools": Layer(
        " ".join(f"tools/{n}.py" for n in ("stat_models", "generate_report", "run_transformers", "collect_metrics")),
        "torch_zoo torch_stat",
    ),
    "builder.common": Layer(
        " ".join(
            f"python/builder/base/{name}.py"
            for name in ["__init__", "locations", "builder_utils", "builder_enums", "errors"]
        )
        + " python/builder/__init__.py",
        "ttmlir golden",
    ),
    "builder.ops": Layer("python/builder/ops/", "builder.common"),
    "builder.ranges": Layer("python/builder/base/input_range_constraints.py", "builder.ops"),
    "builder.goldens": Layer("python/builder/goldens/", "builder.ranges"),
    "builder.base": Layer("python/builder/base/", "builder.goldens"),
    "builder.dialects": Layer("python/builder/ttir/ python/builder/ttnn/ python/builder/stablehlo/", "builder.base"),
    "builder.execution": Layer("python/builder/execution/", "builder.goldens ttnn"),
    "builder.api": Layer("python/builder/api/", "builder.dialects builder.execution"),
    "builder.names": Layer(
        "python/builder/base/builder_apis.py python/builder/base/builder_runtime.py python/builder/stubs.py",
        "builder.api",
    ),
    "builder.sharding": Layer("python/builder/sharding/", "builder.api"),
    "profiler": Layer("python/profiler/", "ttmlir"),
    "ttrt": Layer("tools/ttrt/", "builder.api profiler onnx"),
    "tt_smi": Layer("tools/tt_smi/", "ttrt"),
}
# Where includes are looked up in addition to the folder of the file.
INCLUDE_ROOTS = {
    "runtime/": ["runtime/include", "runtime/include/tt/metal/kernels", "runtime/lib", "include"],
    "": ["include", "lib", "tools"],
}
# Front ends whose package is in ttmlir.
PARTS_OF_TTMLIR = tuple(f"frontends/{name}/" for name in ("torch", "onnx", "jax", "stablehlo"))
INCLUDE = re.compile(r'^[ \t]*#?[ \t]*include[ \t]+["<]([^">]+)[">]', re.MULTILINE)


@cache
def sources() -> frozenset[str]:
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return frozenset(file for file in listed if (ROOT / file).exists())


def rooted(file: str) -> bool:
    """Precompiled headers are no part of it: they have what many files include, and no file includes them."""
    roots = ("runtime/", "lib/", "include/", "tools/", "python/", "frontends/", "plugin/")
    return file.startswith(roots) and not is_precompiled(file)


def is_precompiled(file: str) -> bool:
    return os.path.basename(file).lower().startswith("precompiled")


@cache
def modules() -> dict[str, str]:
    """Files of the project's Python packages by the names that they are imported by."""
    found = {}
    for file in sources():
        root = next((root for root in ("tools/", "python/", "frontends/") if file.startswith(root)), None)
        if root and file.endswith(".py"):
            package = "ttmlir." if file.startswith(PARTS_OF_TTMLIR) else ""
            name = file[len(root) : -len(".py")].replace("/", ".").removesuffix(".__init__")
            found[package + name] = file
    return found


def included(file: str, text: str) -> Iterator[tuple[str, bool]]:
    """(path or name, whether it is run), one for each include; a name begins with "<" where no file has it."""
    roots = next(roots for prefix, roots in INCLUDE_ROOTS.items() if file.startswith(prefix))
    for name in INCLUDE.findall(text):
        places = (os.path.normpath(os.path.join(root, name)) for root in [os.path.dirname(file), *roots])
        yield next((place for place in places if place in sources()), f"<{name}"), True


def statements(text: str) -> Iterator[tuple[ast.AST, bool]]:
    """Yields each statement of a Python file, and whether it is run: what only type checkers see is not.

    Expressions are not visited, which takes a tenth of the time of `ast.walk`.
    """
    todo: list[tuple[ast.AST, bool]] = [(ast.parse(text), True)]
    for node, is_run in todo:
        yield node, is_run
        is_body_run = is_run and not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test))
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            todo += [(inner, is_body_run if field == "body" else is_run) for inner in getattr(node, field, ())]


def imported(file: str, text: str) -> Iterator[tuple[str, bool]]:
    """The same of a Python file."""
    names = {path: name for name, path in modules().items()}
    package = names[file] if file.endswith("/__init__.py") else names[file].rpartition(".")[0]
    for node, is_run in statements(text):
        pairs: list[tuple[str, str | None]] = []
        if isinstance(node, ast.Import):
            pairs = [(alias.name, None) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = package.split(".")
            above = parts[: len(parts) - node.level + 1] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            pairs = [(base, alias.name) for alias in node.names]
        for base, name in pairs:
            found = modules().get(f"{base}.{name}") or modules().get(base) or f"<{base.replace('.', '/')}"
            yield found, is_run


def edges_of(file: str, text: str) -> list[tuple[str, bool]]:
    return list(imported(file, text) if file.endswith(".py") else included(file, text))


@cache
def graph() -> dict[str, list[tuple[str, bool]]]:
    kinds = (".h", ".hpp", ".cpp", ".td", ".def", ".py")
    return {
        file: edges_of(file, (ROOT / file).read_text(encoding="utf-8"))
        for file in sorted(sources())
        if file.endswith(kinds) and rooted(file)
    }


def layer_of(file: str) -> str | None:
    fitting = [
        (len(path), name)
        for name, layer in LAYERS.items()
        for path in layer.paths.split()
        if file == path or (path.endswith("/") and file.startswith(path))
    ]
    return max(fitting)[1] if fitting else None


@cache
def allowed(layer: str) -> frozenset[str]:
    uses = LAYERS[layer].uses.split()
    return frozenset({layer, *uses}.union(*(allowed(use) for use in uses)))
