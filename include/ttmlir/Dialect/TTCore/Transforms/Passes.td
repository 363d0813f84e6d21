//===- Passes.td - passes on TTCore ops and on modules -----*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on modules: adds an attribute of the module and a symbol.
def TTCoreRegisterDevicePass : Pass<"ttcore-register-device", "::mlir::ModuleOp"> {
  let summary = "Register the system descriptor and the default device";
  let description = [{
    The system is that of `system-desc-path`, else a chip of `mock-system-desc-arch` for every device of the mesh. The
    mesh is `mesh-shape`, else the first of `ttcore.meshes`, else 1x1; one number is a row of devices. Of so many
    `pipeline-stages` the program is for one, which has a part of the mesh: that of `ttcore.meshes`, or of columns, or of
    rows. What the module already has stays.

    Before:
    ```mlir
    module {
    }
    ```
    After:
    ```mlir
    module attributes {ttcore.system_desc = #system_desc} {
      ttcore.device @default_device = <workerGrid = ..., meshShape = 1x1, chipIds = [0]>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let options = [
    Option<"mockSystemDescArch", "mock-system-desc-arch", "::mlir::tt::ttcore::Arch",
           "::mlir::tt::ttcore::Arch::WormholeB0", "Chip of a system that no file describes",
           [{::llvm::cl::values(
              clEnumValN(::mlir::tt::ttcore::Arch::WormholeB0, "wormhole_b0", "Wormhole"),
              clEnumValN(::mlir::tt::ttcore::Arch::Blackhole, "blackhole", "Blackhole"),
              clEnumValN(::mlir::tt::ttcore::Arch::Quasar, "quasar", "Quasar"))}]>,
    Option<"systemDescPath", "system-desc-path", "std::string", "\"\"",
           "File with a #ttcore.system_desc attribute in text form">,
    ListOption<"meshShape", "mesh-shape", "int64_t", "Rows and columns of the mesh">,
    Option<"pipelineStages", "pipeline-stages", "int64_t", "1", "Stages that the mesh is for, of which the program is one">,
    // LLVM's list option cannot parse lists of enums: its parser knows no values.
    ListOption<"meshTopology", "mesh-topology", "std::string", "Links of each mesh axis: ring, linear or disabled">
  ];
}

// A pass on modules: moves functions to another module.
def TTCoreWrapDeviceModulePass : Pass<"ttcore-wrap-device-module", "::mlir::ModuleOp"> {
  let summary = "Wrap the module's ops in a device module";
  let description = [{
    A module that holds a device module already is left as it is.

    Before:
    ```mlir
    module {
      func.func @f() { return }
    }
    ```
    After:
    ```mlir
    module {
      ttcore.device_module {
        builtin.module {
          func.func @f() { return }
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

// A pass on modules: moves functions to another module.
def TTCoreUnwrapDeviceModulePass : Pass<"ttcore-unwrap-device-module", "::mlir::ModuleOp"> {
  let summary = "Unwrap a device module";
  let description = [{
    The inverse of `ttcore-wrap-device-module`. Attributes of the inner module that the outer one lacks move to it.
  }];
}

// A pass on modules: inspects the modules inside.
def TTCoreCheckModules : Pass<"ttcore-check-modules", "::mlir::ModuleOp"> {
  let summary = "Check that every function is one that a pipeline lowers";
  let description = [{
    Passes lower the functions of one module, and leave those of modules inside of it as they are. A module inside is an
    error, unless a device module or a host module holds it, and with `flat` also then. An attribute in addition to those of an
    op of ours gets a warning where it has the name of another op's, or one near those of the op: nothing would read it.
    Pipelines begin with this pass.
  }];
  let options = [Option<"isFlat", "flat", "bool", "false", "Device modules and host modules are errors, too">];
}

// A pass on modules: its option names functions, all of which must exist.
def TTPopulateArgumentTypes : Pass<"tt-populate-argument-types", "::mlir::ModuleOp"> {
  let summary = "Annotate function arguments with their types";
  let description = [{
    `argument-types` names functions and the types of all their arguments: input, parameter, constant or default, as in
    `main=input,parameter;other=input`. Parameters and constants are the same in every run.

    Before: `func.func @main(%x: tensor<4xf32>, %w: tensor<4xf32>)`
    After, with `main=input,parameter`:
    ```mlir
    func.func @main(%x: tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
                    %w: tensor<4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>})
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let options = [Option<"argumentTypes", "argument-types", "std::string", "\"\"",
                        "Types of the arguments of functions: main=input,parameter;other=input">];
}

// On modules: adds functions.
def ConstEvalHoistTransform : Pass<"const-eval-hoist-transform", "::mlir::ModuleOp"> {
  let summary = "Hoist constant subgraphs into functions that are evaluated once";
  let description = [{
    Ops that need no other tensors than constants and arguments marked parameter or constant (`ttcore.argument_type`)
    move into private functions, one for those that use each other's results. A run evaluates such a function when it
    meets its arguments for the first time, and keeps the results. Constants by themselves stay where they are, as do
    ops with effects, and values that something writes to in place.

    Before:
    ```mlir
    func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<4x4xf32> {
      %0 = "ttir.abs"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = "ttir.matmul"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %1 : tensor<4x4xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<4x4xf32> {
      %0 = ttcore.load_cached(@main_const_eval_0, [%w]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      %1 = "ttir.matmul"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
      return %1 : tensor<4x4xf32>
    }
    func.func private @main_const_eval_0(%w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "const_eval"} {
      %0 = "ttir.abs"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttcore::TTCoreDialect"];
}

// A pass on modules: the enclosing module determines whether a function is the host's or the device's.
def TTCoreMarkFunctionsAsForwardPass : Pass<"ttcore-mark-functions-as-forward", "::mlir::ModuleOp"> {
  let summary = "Mark the functions that callers run";
  let description = [{
    Public functions that have no `tt.function_type` become `forward_device`, those of a `ttcore.cpu_module`
    `forward_cpu`. Private functions, and declarations, stay without a mark. `ttnn-create-input-gens` and
    `ttnn-load-input-tensors` make inputs for what is marked.

    Before:
    ```mlir
    func.func @f() { return }
    ```
    After:
    ```mlir
    func.func @f() attributes {tt.function_type = "forward_device"} { return }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

def TTCoreOptimizationBarrierFold : Pass<"ttcore-optimization-barrier-fold"> {
  let summary = "Remove optimization barriers";
  let description = [{
    What reads a result of a barrier reads its input. Pipelines do so after the last pass that a barrier is to hold up:
    a program has none.

    Before:
    ```mlir
    %0 = "ttcore.optimization_barrier"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = "ttir.abs"(%0) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.abs"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

def TTCoreMergeEqualOps : Pass<"ttcore-merge-equal-ops"> {
  let summary = "Eliminate common subexpressions, and record the values that they merge";
  let description = [{
    MLIR's `cse`. If ops have the list `ttcore.merged`, the op that stays has the locations of those that are equal to
    it. Passes that fuse ops extend the list, and flatbuffers keep it.

    Before:
    ```mlir
    %0 = "ttir.exp"(%x) {ttcore.merged = []} : (tensor<4xf32>) -> tensor<4xf32> loc("first")
    %1 = "ttir.exp"(%x) {ttcore.merged = []} : (tensor<4xf32>) -> tensor<4xf32> loc("second")
    ```
    After:
    ```mlir
    %0 = "ttir.exp"(%x) {ttcore.merged = ["\"second\""]} : (tensor<4xf32>) -> tensor<4xf32> loc("first")
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_TD
