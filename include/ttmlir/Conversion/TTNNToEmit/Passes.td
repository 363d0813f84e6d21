//===- Passes.td - lowering of TTNN to EmitC and EmitPy ----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_TTNNTOEMIT_PASSES_TD
#define TTMLIR_CONVERSION_TTNNTOEMIT_PASSES_TD

include "mlir/Pass/PassBase.td"

class ConvertTTNN<string argument> : Pass<argument, "::mlir::ModuleOp"> {
  list<Option> common = [
    Option<"tensorDirectory", "tensor-directory", "std::string", "\"tensors\"",
           "Folder of constants, seen from that of the program">,
    Option<"loadInputs", "load-input-tensors-from-disk", "bool", "false",
           "Read inputs from files instead of generating them">,
    Option<"inputDirectory", "tensor-load-directory", "std::string", "\"\"",
           "Folder of the inputs' files, seen from that of the program">,
    Option<"inputPrefix", "tensor-load-file-prefix", "std::string", "\"arg\"",
           "The file of an input is this, the input's number and .tensorbin">,
    Option<"tuplifyInputs", "tuplify-input-if-empty", "bool", "false",
           "Programs take their inputs as one list, also if there are none, and return a list">];
}

def TTNNRecoverStructure : Pass<"ttnn-recover-structure", "::mlir::ModuleOp"> {
  let summary = "Recover functions from the hierarchical names of ops";
  let description = [{
    Ops called `encoder/layer_0/query` and `encoder/layer_0/key` (or with dots) are parts of `layer_0`, a part of
    `encoder`. Those that stand together become a function, called by the program, and so on within it. Ops without a
    name go with those before them; constants, and what is computed once, stay in the program.

    Before:
    ```mlir
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %0 = "ttnn.exp"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("head.exp")
      %1 = "ttnn.neg"(%0) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("head.neg")
      %2 = "ttnn.abs"(%1) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("tail")
    ```
    After:
    ```mlir
    func.func private @head(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %1 = call @head(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("head")
      %2 = "ttnn.abs"(%1) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> loc("tail")
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// On modules: adds functions.
def TTNNCreateInputGenerators : Pass<"ttnn-create-input-gens", "::mlir::ModuleOp"> {
  let summary = "Add functions that generate inputs for programs";
  let description = [{
    For functions marked `forward_device`, or all public ones if none is. Floats are random, other types are 0. A program
    that has such a function keeps it. The conversions to C++ and Python write it, and a `main` that calls it.

    Before:
    ```mlir
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    ```
    After:
    ```mlir
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    func.func @create_inputs_for_model() -> tensor<32x32xf32, #l> attributes {tt.function_type = "input_generator", ttnn.inputs_of = "model"} {
      %0 = "ttnn.get_device"() : () -> !ttnn.device
      %1 = "ttnn.rand"(%0) <{seed = 0 : ui32, size = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #l>
      return %1 : tensor<32x32xf32, #l>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// On modules: adds functions.
def TTNNLoadInputTensors : Pass<"ttnn-load-input-tensors", "::mlir::ModuleOp"> {
  let summary = "Add functions that read inputs of programs from files";
  let description = [{
    As `ttnn-create-input-gens`; the input of number n is read from `<directory>/<prefix>n.tensorbin`.

    Before:
    ```mlir
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    ```
    After:
    ```mlir
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    func.func @create_inputs_for_model() -> tensor<32x32xf32, #l> attributes {tt.function_type = "input_generator", ttnn.inputs_of = "model"} {
      %0 = "ttnn.get_device"() : () -> !ttnn.device
      %1 = "ttnn.load_tensor"(%0) <{file_path = "arg0.tensorbin"}> : (!ttnn.device) -> tensor<32x32xf32, #l>
      return %1 : tensor<32x32xf32, #l>
    }
    ```
  }];
  let options = [
    Option<"directory", "tensor-load-directory", "std::string", "\"\"", "Folder of the files, seen from that of the program">,
    Option<"prefix", "tensor-load-file-prefix", "std::string", "\"arg\"", "Prefix of the names of the files">
  ];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: functions change together with the code that creates their inputs.
def TTNNTuplifyTensors : Pass<"ttnn-tuplify-tensors", "::mlir::ModuleOp"> {
  let summary = "Pass the inputs and results of programs as tuples";
  let description = [{
    For functions marked `forward_device`, or all public ones if none is, and those that make their inputs; a device stays
    an argument. `ttnn.elements` has the attributes of the arguments that became elements. Programs without inputs take
    no tuple unless `tuplify-input-if-empty` asks for one. Programs in C++ and Python have lists for tuples; a flatbuffer
    has none.

    Before:
    ```mlir
    func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      return %0 : tensor<32x32xf32, #l>
    }
    ```
    After:
    ```mlir
    func.func @model(%inputs: tuple<tensor<32x32xf32, #l>> {ttir.name = "inputs", ttnn.elements = [...]}) -> tuple<tensor<32x32xf32, #l>> {
      %x = ttcore.get_tuple_element %inputs[0] : (tuple<tensor<32x32xf32, #l>>) -> tensor<32x32xf32, #l>
      %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      %1 = ttcore.tuple %0 : tuple<tensor<32x32xf32, #l>>
      return %1 : tuple<tensor<32x32xf32, #l>>
    }
    ```
  }];
  let options = [Option<"tuplifyInputIfEmpty", "tuplify-input-if-empty", "bool", "false",
                        "Programs without inputs take an empty tuple">];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: renames functions.
def TTNNPrepareModuleForExport : Pass<"ttnn-prepare-module-for-export", "::mlir::ModuleOp"> {
  let summary = "Pass the device to programs as an argument";
  let description = [{
    It is the last one, and is what `ttnn.get_device` gave. An only program called `main`, as what C++ and Python begin
    with is called, becomes `forward`. Conversions write such an argument, or one of their own where it is needed.

    Before:
    ```mlir
    func.func @main(%x: tensor<32x32xf32, #host>) -> tensor<32x32xf32, #l> {
      %0 = "ttnn.get_device"() : () -> !ttnn.device
      %1 = "ttnn.to_device"(%x, %0) : (tensor<32x32xf32, #host>, !ttnn.device) -> tensor<32x32xf32, #l>
    ```
    After:
    ```mlir
    func.func @forward(%x: tensor<32x32xf32, #host>, %0: !ttnn.device) -> tensor<32x32xf32, #l> {
      %1 = "ttnn.to_device"(%x, %0) : (tensor<32x32xf32, #host>, !ttnn.device) -> tensor<32x32xf32, #l>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: finds the functions that callers run.
def TTNNSplitForwardFuncArgsByType : Pass<"ttnn-split-forward-func-args-by-type", "::mlir::ModuleOp"> {
  let summary = "Pass the weights of programs as a second tuple";
  let description = [{
    Weights are the elements of the tuple that `ttcore.argument_type` calls parameters or constants. A program without
    weights stays as it is. In Python these are two lists; in C++ one, of which the inputs are the first.

    Before:
    ```mlir
    func.func @model(%all: tuple<tensor<32x32xf32, #l>, tensor<32x32xf32, #l>> {ttir.name = "inputs", ttnn.elements = [...]}) {
      %w = ttcore.get_tuple_element %all[0] : (tuple<tensor<32x32xf32, #l>, tensor<32x32xf32, #l>>) -> tensor<32x32xf32, #l>
    ```
    After:
    ```mlir
    func.func @model(%inputs: tuple<tensor<32x32xf32, #l>> {ttir.name = "inputs", ttnn.elements = [...]},
                     %weights: tuple<tensor<32x32xf32, #l>> {ttir.name = "weights", ttnn.elements = [...]}) {
      %w = ttcore.get_tuple_element %weights[0] : (tuple<tensor<32x32xf32, #l>>) -> tensor<32x32xf32, #l>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// On modules: moves functions.
def TTNNFileSplit : Pass<"ttnn-file-split", "::mlir::ModuleOp"> {
  let summary = "Move const-eval functions to a file of their own";
  let description = [{
    `consteval` has what `ttcore.load_cached` names and what that calls, `main` the rest and declarations.
    `convert-ttnn-to-emitpy` writes these files, as with `split-files`; `convert-ttnn-to-emitc` writes one.

    Before:
    ```mlir
    func.func private @weight(%w: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    func.func @model(%w: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
      %0 = ttcore.load_cached(@weight, [%w]) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    ```
    After, with `target=emitpy`:
    ```mlir
    emitpy.file "main" {
      emitpy.import "consteval" names ["weight"]
      func.func private @weight(tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
      func.func @model(%w: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
        %0 = ttcore.load_cached(@weight, [%w]) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    }
    emitpy.file "consteval" {
      func.func private @weight(%w: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> { ... }
    }
    ```
  }];
  let options = [
    Option<"target", "target", "::mlir::tt::FileSplitTarget", "::mlir::tt::FileSplitTarget::EmitPy", "Language of the files",
           [{::llvm::cl::values(clEnumValN(::mlir::tt::FileSplitTarget::EmitPy, "emitpy", "Python"),
                                clEnumValN(::mlir::tt::FileSplitTarget::EmitC, "emitc", "C++"))}]>
  ];
  let dependentDialects = ["::mlir::emitc::EmitCDialect", "::mlir::tt::emitpy::EmitPyDialect"];
}

// A pass on modules: adds an attribute of the module.
def CaptureMeshShape : Pass<"capture-mesh-shape", "::mlir::ModuleOp"> {
  let summary = "Record the shape of the mesh on the module";
  let description = [{
    That of the device, for modules that are written without it: emitted programs open a mesh of this shape. What a
    module says already stays.

    Before:
    ```mlir
    module {
      ttcore.device @default_device = <workerGrid = ..., meshShape = 1x2, chipIds = [0, 1]>
    }
    ```
    After:
    ```mlir
    module attributes {ttcore.device_mesh_shape = array<i64: 1, 2>} {
      ttcore.device @default_device = <workerGrid = ..., meshShape = 1x2, chipIds = [0, 1]>
    }
    ```
  }];
}

def RemoveDeadEmitCExpressions : Pass<"remove-dead-emitc-expressions"> {
  let summary = "Remove unused C++ expressions";
  let description = [{
    Those without side effects.

    Before:
    ```mlir
    %0 = emitc.expression %a : (i32) -> i32 { ... }
    return
    ```
    After:
    ```mlir
    return
    ```
  }];
  let dependentDialects = ["::mlir::emitc::EmitCDialect"];
}

def ConvertTTNNToEmitPy : ConvertTTNN<"convert-ttnn-to-emitpy"> {
  let summary = "Convert TTNN programs to Python functions that call ttnn";
  let description = [{
    Every op becomes a call of the function that `tools/opgen` has for it. Arguments that are as the
    function would take them anyway are left out. A function `create_inputs_for_<program>` makes inputs of the right
    types, `main` runs every program with them. Constants become files, noted at the module; a splat is `ttnn.full`.

    Before:
    ```mlir
    %0 = "ttnn.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x32xf32, #l>) -> tensor<32x1xf32, #l>
    ```
    After:
    ```mlir
    %0 = emitpy.call_opaque "ttnn.sum"(%x) {args = [0 : index, #emitpy.opaque<"[1]">, #emitpy.opaque<"True">],
      keywords = ["", "dim", "keepdim"]} : (!emitpy.opaque<"ttnn.Tensor">) -> !emitpy.opaque<"ttnn.Tensor">
    ```
  }];
  let options = !listconcat([Option<"targetModule", "target-module", "bool", "false",
                                    "Without main: the program is imported by others">], common, [
    Option<"splitFiles", "split-files", "bool", "false",
           "Write const-eval functions to a file of their own, `consteval`">]);
  let dependentDialects = ["::mlir::tt::emitpy::EmitPyDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// For programs in Python, as `convert-ttnn-to-emitpy` produces them.
class EmitPyNothingToDo<string argument, string why, string text> : Pass<argument> {
  let summary = "Nothing to do: " # why;
  let description = text # " Programs stay as they are.\n";
}

def EmitPyAddImports : EmitPyNothingToDo<"emitpy-add-imports", "convert-ttnn-to-emitpy writes the imports",
    "The conversion knows what a program calls, and imports that.">;

def EmitPyConstEvalCaching : EmitPyNothingToDo<"emitpy-const-eval-caching",
    "convert-ttnn-to-emitpy writes the cache", "The code that the conversion writes keeps the values that are evaluated once.">;

def EmitPyNameVars : EmitPyNothingToDo<"emitpy-name-vars", "convert-ttnn-to-emitpy names the variables",
    "Name variables after locations, or after the function that returned them">;

def EmitPyFormExpressions : EmitPyNothingToDo<"emitpy-form-expressions",
    "convert-ttnn-to-emitpy writes a statement for each call",
    "Every value has a variable, by which emitted programs are compared with their goldens.">;

def EmitPyLinkModules : EmitPyNothingToDo<"emitpy-link-modules", "convert-ttnn-to-emitpy makes one module",
    "Functions, what is evaluated once, and main are in one file.">;

def ConvertTTNNToEmitC : ConvertTTNN<"convert-ttnn-to-emitc"> {
  let summary = "Convert TTNN programs to C++ functions that call ttnn";
  let description = [{
    As convert-ttnn-to-emitpy, in the emitc dialect. `TTNN_PROGRAM` makes a function known to who loads the compiled
    library; `main` is there unless target-dylib says that it is not needed.

    Before:
    ```mlir
    %0 = "ttnn.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x32xf32, #l>) -> tensor<32x1xf32, #l>
    ```
    After:
    ```mlir
    %0 = emitc.call_opaque "ttnn::sum"(%x) {args = [0 : index, #emitc.opaque<"/*dim=*/{1}">,
      #emitc.opaque<"/*keepdim=*/true">]} : (!emitc.opaque<"ttnn::Tensor">) -> !emitc.opaque<"ttnn::Tensor">
    ```
  }];
  let options = !listconcat([Option<"targetDylib", "target-dylib", "bool", "false",
                                    "Without main: the program is a shared library">], common);
  let dependentDialects = ["::mlir::emitc::EmitCDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

#endif // TTMLIR_CONVERSION_TTNNTOEMIT_PASSES_TD
