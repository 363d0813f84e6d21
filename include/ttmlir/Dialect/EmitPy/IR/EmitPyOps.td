//===- EmitPyOps.td - the emitpy dialect -----------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_EMITPY_IR_EMITPYOPS_TD
#define TTMLIR_DIALECT_EMITPY_IR_EMITPYOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/RegionKindInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def EmitPy_Dialect : Dialect {
  let name = "emitpy";
  let summary = "Python programs as IR.";
  let description = [{
    A module is a Python module: imports, constants, functions. Functions are those of the func dialect, their values are
    of `!emitpy.opaque` types, which name Python classes. `ttmlir-translate --mlir-to-python` prints it.
  }];
  let cppNamespace = "::mlir::tt::emitpy";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
}

def EmitPy_OpaqueType : TypeDef<EmitPy_Dialect, "Opaque"> {
  let mnemonic = "opaque";
  let summary = "An object of a Python class.";
  let parameters = (ins StringRefParameter<"the class, as an annotation spells it">:$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

def EmitPy_OpaqueAttr : AttrDef<EmitPy_Dialect, "Opaque"> {
  let mnemonic = "opaque";
  let summary = "A Python expression without variables, printed as it is: `ttnn.TILE_LAYOUT`.";
  let parameters = (ins StringRefParameter<"the expression">:$value);
  let assemblyFormat = "`<` $value `>`";
  let genVerifyDecl = 1;
}

class EmitPy_Op<string mnemonic, list<Trait> traits = []> : Op<EmitPy_Dialect, mnemonic, traits>;

def EmitPy_ImportOp : EmitPy_Op<"import"> {
  let summary = "Imports a module, or names from one.";
  let description = [{
    ```mlir
    emitpy.import "ttnn"
    emitpy.import "pathlib" names ["Path"]
    ```
    prints `import ttnn` and `from pathlib import Path`.
  }];
  let arguments = (ins StrAttr:$module_name, OptionalAttr<StrArrayAttr>:$names);
  let assemblyFormat = "$module_name (`names` $names^)? attr-dict";
  let hasVerifier = 1;
}

def EmitPy_GlobalOp : EmitPy_Op<"global", [Symbol]> {
  let summary = "A constant of the module: `NAME = expression`.";
  let arguments = (ins SymbolNameAttr:$sym_name, EmitPy_OpaqueAttr:$value);
  let assemblyFormat = "$sym_name `=` $value attr-dict";
  let hasVerifier = 1;
}

def EmitPy_CallOpaqueOp : EmitPy_Op<"call_opaque"> {
  let summary = "Calls a Python function, or a method of its first operand.";
  let description = [{
    `args` are the arguments as they are written: `0 : index` stands for operand 0, an array for a list, every other
    attribute for its value. `keywords` has a name for each argument; an empty one makes it positional. Without `args`
    the operands are the arguments.

    ```mlir
    %sum = emitpy.call_opaque "ttnn.sum"(%x) {args = [0 : index, [1 : i32], true], keywords = ["", "dim", "keepdim"]}
      : (!emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
    ```
    prints `sum = ttnn.sum(x, dim=[1], keepdim=True)`. A callee that starts with a dot is a method: `.deallocate`.
  }];
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$operands, OptionalAttr<ArrayAttr>:$args,
                       OptionalAttr<StrArrayAttr>:$keywords);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = "$callee `(` $operands `)` attr-dict `:` functional-type($operands, $results)";
  let hasVerifier = 1;
}

def EmitPy_LiteralOp : EmitPy_Op<"literal", [Pure]> {
  let summary = "An expression that takes the place of the result wherever it is used.";
  let arguments = (ins EmitPy_OpaqueAttr:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$value attr-dict `:` type($result)";
}

def EmitPy_ListOp : EmitPy_Op<"list", [Pure]> {
  let summary = "A list of the operands, written where the result is used.";
  let arguments = (ins Variadic<AnyType>:$items);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$items attr-dict `:` functional-type($items, $result)";
}

def EmitPy_UnpackOp : EmitPy_Op<"unpack"> {
  let summary = "The items of a list, each in a variable: `a, b = items`.";
  let arguments = (ins AnyType:$list);
  let results = (outs Variadic<AnyType>:$items);
  let assemblyFormat = "$list attr-dict `:` functional-type($list, $items)";
}

def EmitPy_FileOp : EmitPy_Op<"file", [IsolatedFromAbove, NoTerminator, SingleBlock, SymbolTable]> {
  let summary = "One of several files of a program; its id is the name under which others import it.";
  let description = [{
    ```mlir
    emitpy.file "consteval" {
      emitpy.import "ttnn"
    }
    ```
    A module has either files or what stands in one. `ttmlir-translate --mlir-to-python --emitpy-file-id=consteval`
    prints this one.
  }];
  let arguments = (ins StrAttr:$id);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$id $body attr-dict";
  let hasVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$id)>];
}

def EmitPy_VerbatimOp : EmitPy_Op<"verbatim"> {
  let summary = "Lines that are printed as they are, at the indentation of their place.";
  let arguments = (ins StrAttr:$text);
  let assemblyFormat = "$text attr-dict";
}

#endif // TTMLIR_DIALECT_EMITPY_IR_EMITPYOPS_TD
