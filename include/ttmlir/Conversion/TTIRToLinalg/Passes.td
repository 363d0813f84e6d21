//===- Passes.td - ops of TTIR as native code of the host --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_TD
#define TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

// On modules: moves ops to another module.
def CPUHoistManuallyTaggedOpsTransform : Pass<"cpu-hoist-manually-tagged", "::mlir::ModuleOp"> {
  let summary = "Move tagged ops to functions of the host";
  let description = [{
    An op with the attribute `ttir.should_hoist` becomes a call of a function in the `ttcore.cpu_module`; equal ops share
    a function. The call has the op's location, and is compared with its golden like any op. Of formats that the host has
    no type for (f16, tiles), operands and results are cast to f32.

    Before:
    ```mlir
    func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.sigmoid"(%x) {ttir.should_hoist} : (tensor<32x32xf32>) -> tensor<32x32xf32>
      return %0 : tensor<32x32xf32>
    }
    ```
    After:
    ```mlir
    ttcore.cpu_module {
      builtin.module {
        func.func @cpu_hoisted_sigmoid_0(%x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {tt.function_type = "forward_cpu"} {
          %0 = "ttir.sigmoid"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
          return %0 : tensor<32x32xf32>
        }
      }
    }
    func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = call @cpu_hoisted_sigmoid_0(%x) {ttir.cpu_hoisted_call} : (tensor<32x32xf32>) -> tensor<32x32xf32>
      return %0 : tensor<32x32xf32>
    }
    func.func private @cpu_hoisted_sigmoid_0(tensor<32x32xf32>) -> tensor<32x32xf32> attributes {tt.function_type = "forward_cpu_declaration"}
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttir::TTIRDialect"];
}

// On modules: moves ops to another module.
def CPUHoistConstEvalTransform : Pass<"cpu-hoist-const-eval", "::mlir::ModuleOp"> {
  let summary = "Evaluate constant subgraphs on the host";
  let description = [{
    The body of a function that is evaluated once (`const-eval-hoist-transform`) becomes a function in the
    `ttcore.cpu_module`, as far as all of its ops are lowered to the host. What has others becomes a part of its caller
    again: there, the device evaluates it once.

    Before:
    ```mlir
    func.func private @main_const_eval_0(%w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "const_eval"} {
      %0 = "ttir.abs"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    ```
    After:
    ```mlir
    ttcore.cpu_module {
      builtin.module {
        func.func @cpu_hoisted_main_const_eval_0(%w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "forward_cpu"} {
          %0 = "ttir.abs"(%w) : (tensor<4x4xf32>) -> tensor<4x4xf32>
          return %0 : tensor<4x4xf32>
        }
      }
    }
    func.func private @main_const_eval_0(%w: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "const_eval"} {
      %0 = call @cpu_hoisted_main_const_eval_0(%w) {ttir.cpu_hoisted_call} : (tensor<4x4xf32>) -> tensor<4x4xf32>
      return %0 : tensor<4x4xf32>
    }
    func.func private @cpu_hoisted_main_const_eval_0(tensor<4x4xf32>) -> tensor<4x4xf32> attributes {tt.function_type = "forward_cpu_declaration"}
    ```
  }];
  let dependentDialects = ["::mlir::func::FuncDialect", "::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttir::TTIRDialect"];
}

// On modules: removes declarations.
def LowerCPUHoistedCalls : Pass<"ttir-lower-cpu-hoisted-calls", "::mlir::ModuleOp"> {
  let summary = "Make calls of host functions ops that a program can have";
  let description = [{
    Calls marked `ttir.cpu_hoisted_call` become `debug.host_call`, and their declarations go. What writes the program
    finds the functions in the `ttcore.cpu_module`.

    Before:
    ```mlir
    %0 = call @cpu_hoisted_sigmoid_0(%x) {ttir.cpu_hoisted_call} : (tensor<32x32xf32>) -> tensor<32x32xf32>
    ```
    After:
    ```mlir
    %0 = "debug.host_call"(%x) <{function = "cpu_hoisted_sigmoid_0"}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::debug::DebugDialect"];
}

// On modules: changes the types of functions and of what calls them.
def ConvertTTIRToLinalg : Pass<"convert-ttir-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower TTIR to linalg on tensors";
  let description = [{
    Elementwise ops, reductions, products and movements of data become `linalg.generic`, or ops of the tensor dialect.
    Floats are computed in f32 and rounded once, integers in 64 bits. Integers of functions become signless. Every op
    that is left is named with the reason.

    Before:
    ```mlir
    %0 = "ttir.neg"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = tensor.empty() : tensor<4xf32>
    %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%0 : tensor<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      %2 = arith.negf %in : f32
      linalg.yield %2 : f32
    } -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def CopiesToLinalg : Pass<"memref-copies-to-linalg"> {
  let summary = "Make copies of parts of buffers linalg ops";
  let description = [{
    They become loops then. Copies of whole buffers stay: those are calls of memcpy.

    Before:
    ```mlir
    memref.copy %a, %b : memref<4xf32, strided<[2]>> to memref<4xf32>
    ```
    After:
    ```mlir
    linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%a : memref<4xf32, strided<[2]>>) outs(%b : memref<4xf32>) {
    ^bb0(%in: f32, %out: f32):
      linalg.yield %in : f32
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect"];
}

def LLVMBFloatAsBits : Pass<"llvm-bf16-as-bits", "::mlir::LLVM::LLVMFuncOp"> {
  let summary = "Hold values of bf16 as 16 bits";
  let description = [{
    Arithmetic of bf16 is in bits before this; what is left moves values. A code generator without instructions for bf16
    moves them as f32, and rounds them by a function of the compiler's library, which a process need not have.

    Before:
    ```mlir
    llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr) {
      %0 = llvm.load %a : !llvm.ptr -> bf16
      llvm.store %0, %b : bf16, !llvm.ptr
      llvm.return
    }
    ```
    After:
    ```mlir
    llvm.func @f(%a: !llvm.ptr, %b: !llvm.ptr) {
      %0 = llvm.load %a : !llvm.ptr -> i16
      llvm.store %0, %b : i16, !llvm.ptr
      llvm.return
    }
    ```
  }];
}

// On modules: adds functions.
def LLVMEmitCallingConventionWrapperFuncs : Pass<"emit-calling-convention-wrappers", "::mlir::ModuleOp"> {
  let summary = "Add functions that take pointers to all operands and results as one list";
  let description = [{
    A runtime calls functions of any number of tensors by it. Functions without a body, and wrappers themselves, get
    none.

    Before:
    ```mlir
    llvm.func @f(%x: !llvm.ptr, %result: !llvm.ptr) { ... }
    ```
    After:
    ```mlir
    llvm.func @f(%x: !llvm.ptr, %result: !llvm.ptr) { ... }
    llvm.func @f_helper(%tensors: !llvm.ptr) {
      %0 = llvm.getelementptr %tensors[0] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %1 = llvm.load %0 : !llvm.ptr -> !llvm.ptr
      %2 = llvm.getelementptr %tensors[1] : (!llvm.ptr) -> !llvm.ptr, !llvm.ptr
      %3 = llvm.load %2 : !llvm.ptr -> !llvm.ptr
      llvm.call @f(%1, %3) : (!llvm.ptr, !llvm.ptr) -> ()
      llvm.return
    }
    ```
  }];
  let dependentDialects = ["::mlir::LLVM::LLVMDialect"];
}

#endif // TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_TD
