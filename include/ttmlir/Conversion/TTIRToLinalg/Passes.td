//===- Passes.td - ops of TTIR as native code of the host --*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_TD
#define TTMLIR_CONVERSION_TTIRTOLINALG_PASSES_TD

include "mlir/Pass/PassBase.td"

// A pass on modules: moves ops to another module.
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

// A pass on modules: moves ops to another module.
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

// A pass on modules: moves ops to another module.
def CPUHoistFallback : Pass<"cpu-hoist-fallback", "::mlir::ModuleOp"> {
  let summary = "Move ops that the chip lacks to functions of the host";
  let description = [{
    Ops of the dialects arith, linalg, math, scf and tensor on tensors of static sizes, and ops of TTIR that have code for
    the host and no lowering to TTNN. Those that are connected, without an op of the chip in between, become one function
    in the `ttcore.cpu_module`; equal functions are one. Constants that only the chip reads become `ttir.constant`. What
    a function takes and gives has a type that the chip holds: of other integers, f64 and index it converts its operands
    and results, and scalars that leave it are tensors of rank 0. The call has the location of the op that gives its last
    result. Ops with effects keep their order.

    Other ops, and those of these dialects that have effects, memrefs, dynamic sizes, or types that the host lacks, are
    named in errors.

    Before:
    ```mlir
    func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %1 = arith.addf %0, %x : tensor<32x32xf32>
      return %1 : tensor<32x32xf32>
    }
    ```
    After:
    ```mlir
    ttcore.cpu_module {
      builtin.module {
        func.func @cpu_hoisted_arith_addf(%0: tensor<32x32xf32>, %x: tensor<32x32xf32>) -> tensor<32x32xf32> attributes {tt.function_type = "forward_cpu"} {
          %1 = arith.addf %0, %x : tensor<32x32xf32>
          return %1 : tensor<32x32xf32>
        }
      }
    }
    func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %1 = call @cpu_hoisted_arith_addf(%0, %x) {ttir.cpu_hoisted_call} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
      return %1 : tensor<32x32xf32>
    }
    func.func private @cpu_hoisted_arith_addf(tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32> attributes {tt.function_type = "forward_cpu_declaration"}
    ```
  }];
  let options = [Option<"enabled", "enabled", "bool", "true", "false: name the ops of those dialects in errors instead">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttir::TTIRDialect",
                           "::mlir::tt::ttnn::TTNNDialect"];
}

// On modules: removes declarations.
def LowerCPUHoistedCalls : Pass<"ttir-lower-cpu-hoisted-calls", "::mlir::ModuleOp"> {
  let summary = "Replace calls of host functions by ops of device programs";
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

// A pass on modules: changes the types of functions and of their calls.
def ConvertTTIRToLinalg : Pass<"convert-ttir-to-linalg", "::mlir::ModuleOp"> {
  let summary = "Lower TTIR to linalg on tensors";
  let description = [{
    Elementwise ops, reductions, products and data movement ops become `linalg.generic`, or ops of the tensor dialect.
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

def DefineHostArithmetic : Pass<"define-host-arithmetic"> {
  let summary = "Define divisions by 0, indices outside of tensors, and extremes of zeros";
  let description = [{
    Elsewhere they have none, and end the process. x / 0 is -1, x rem 0 is x, and the least number by -1 is itself. An
    index outside of a tensor becomes the nearest inside, and that of a slice as well. Nothing is done for constants
    that are in order. Maxima and minima of floats are those of IEEE 754-2019, for which -0 is below 0.

    Before:
    ```mlir
    func.func @f(%x: i32, %y: i32) -> i32 {
      %0 = arith.divui %x, %y : i32
      return %0 : i32
    }
    ```
    After:
    ```mlir
    func.func @f(%x: i32, %y: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %c1 = arith.constant 1 : i32
      %cm1 = arith.constant -1 : i32
      %0 = arith.cmpi eq, %y, %c0 : i32
      %1 = arith.select %0, %c1, %y : i32
      %2 = arith.divui %x, %1 : i32
      %3 = arith.select %0, %cm1, %2 : i32
      return %3 : i32
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tensor::TensorDialect"];
}

def PrepareHostArguments : Pass<"prepare-host-arguments", "::mlir::func::FuncOp"> {
  let summary = "Mark arguments as read-only, and skip tensors without elements";
  let description = [{
    Bufferization would else compute in the memory of an argument that no later op of the function reads; it is that of a
    tensor of the program. Arguments and results without elements are of one dimension: pointers alone do not tell the
    strides of others.

    Before:
    ```mlir
    func.func @f(%x: tensor<4xf32>, %y: tensor<3x0xf32>) -> tensor<4xf32> {
      return %x : tensor<4xf32>
    }
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<4xf32> {bufferization.writable = false}, %y: tensor<0xf32> {bufferization.writable = false}) -> tensor<4xf32> {
      %0 = tensor.empty() : tensor<3x0xf32>
      return %x : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect", "::mlir::tensor::TensorDialect"];
}

def LowerHostMath : Pass<"lower-host-math"> {
  let summary = "Lower ops of math that the C library lacks";
  let description = [{
    Scalars only, in f32, f64 and integers. What neither the library nor LLVM has is named.

    Before:
    ```mlir
    func.func @f(%x: f32) -> i1 {
      %0 = math.isnan %x : f32
      return %0 : i1
    }
    ```
    After:
    ```mlir
    func.func @f(%x: f32) -> i1 {
      %0 = arith.cmpf uno, %x, %x : f32
      return %0 : i1
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect"];
}

def CopiesToLinalg : Pass<"memref-copies-to-linalg"> {
  let summary = "Convert copies of parts of buffers to linalg ops";
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
  let summary = "Represent bf16 by 16-bit integers";
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
