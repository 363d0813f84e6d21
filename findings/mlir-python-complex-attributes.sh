#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# MLIR's Python bindings, in jaxlib 0.10.2 and iree-base-compiler 3.13.0: an op with a dense attribute of complex
# elements prints, but the attribute cannot be read.
#
# `op.attributes.items()` and `op.attributes["value"]` raise a TypeError for a dense attribute whose elements are
# complex numbers. `ir.Attribute.parse` raises it as well (llvm/llvm-project, issue 105701). The bindings replace a dense
# attribute by its class for integers or for floats, and raise the error for all other element types instead of
# returning the general class, `DenseElementsAttr`. A program that lists the attributes of all ops stops at the first
# complex constant. The names of the attributes and the text of the op can be read.
#
# Prints how each way to read the attribute ends, for three element types. Exits with 1 when this is not what was seen.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q jaxlib==0.10.2 iree-base-compiler==3.13.0 numpy==2.4.6
cat >"$folder/attributes.py" <<'PY'
import importlib
import sys

ir = importlib.import_module(sys.argv[1])


def attempt(read):
    try:
        read()
    except TypeError as error:
        return type(error).__name__
    return "read"


constants = {"i32": "[1, 2]", "f32": "[1.0, 2.0]", "complex<f32>": "[(1.0, 2.0), (3.0, 4.0)]"}
for element, values in constants.items():
    text = f"dense<{values}> : tensor<2x{element}>"
    with ir.Context() as context, ir.Location.unknown():
        context.allow_unregistered_dialects = True
        module = ir.Module.parse(f'"example.constant"() {{value = {text}}} : () -> ()')
        assert module.operation.verify()
        op = module.body.operations[0]
        ways = {
            "print": lambda op=op: str(op),
            "names": lambda op=op: list(op.attributes.keys()),
            "items": lambda op=op: list(op.attributes.items()),
            "by name": lambda op=op: op.attributes["value"],
            "parse": lambda text=text: ir.Attribute.parse(text),
        }
        print(f"{sys.argv[1]}, {element}:", *(f"{way} {attempt(read)}," for way, read in ways.items()))
PY
for bindings in jaxlib.mlir.ir iree.compiler.ir; do
  "$folder/venv/bin/python" "$folder/attributes.py" "$bindings"
done | sed 's/,$//' | tee "$folder/seen"
diff "$folder/seen" - <<'SEEN'
jaxlib.mlir.ir, i32: print read, names read, items read, by name read, parse read
jaxlib.mlir.ir, f32: print read, names read, items read, by name read, parse read
jaxlib.mlir.ir, complex<f32>: print read, names read, items TypeError, by name TypeError, parse TypeError
iree.compiler.ir, i32: print read, names read, items read, by name read, parse read
iree.compiler.ir, f32: print read, names read, items read, by name read, parse read
iree.compiler.ir, complex<f32>: print read, names read, items TypeError, by name TypeError, parse TypeError
SEEN
