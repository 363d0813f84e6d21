//===- Passes.td - the lowering of StableHLO to TTIR -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_TD
#define TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertArithToStableHLO : Pass<"convert-arith-to-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Convert constant tensors of the arith dialect to StableHLO";
  let description = [{
    Before: `%0 = arith.constant dense<1.0> : tensor<4xf32>`
    After: `%0 = stablehlo.constant dense<1.0> : tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

// On modules: meshes are symbols and become an attribute of the module.
def ConvertSdyToTTCore : Pass<"convert-sdy-to-ttcore", "::mlir::ModuleOp"> {
  let summary = "Convert meshes to a module attribute and drop trivial shardings";
  let description = [{
    A mesh of one axis becomes one row of devices, a mesh without axes a single device. Shardings along axes of size 1
    say nothing and are dropped, together with the ops that only carry them. The region of a manual computation takes
    its place, between `ttir.mesh_shard` of its operands and results; the composite `sdy.all_slice` becomes
    `ttir.mesh_partition`. A tensor that is split outside of a manual computation is an error: splitting is the work of
    the StableHLO pipeline.

    Before:
    ```mlir
    module {
      sdy.mesh @mesh = <["x"=1, "y"=1]>
      func.func @f(%a: tensor<f32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> tensor<f32> {
        return %a : tensor<f32>
      }
    }
    ```
    After:
    ```mlir
    module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
      func.func @f(%a: tensor<f32>) -> tensor<f32> {
        return %a : tensor<f32>
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::tt::ttir::TTIRDialect",
                           "::mlir::stablehlo::StablehloDialect"];
}

// On modules: signatures and calls change together.
def StableHLOEraseTokens : Pass<"stablehlo-erase-tokens", "::mlir::ModuleOp"> {
  let summary = "Put empty tensors in the place of tokens";
  let description = [{
    Programs do what has effects in the order in which it stands, so tokens have nothing to say.

    Before: `%t = stablehlo.create_token : !stablehlo.token`
    After: `%t = stablehlo.constant dense<> : tensor<0xi1>`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

// On modules: signatures and calls change together.
def StableHLOComplexDataTypeConversion : Pass<"stablehlo-complex-data-type-conversion", "::mlir::ModuleOp"> {
  let summary = "Make real tensors of tensors of complex numbers";
  let description = [{
    `tensor<3xcomplex<f32>>` becomes `tensor<3x2xf32>`, real and imaginary part last, in signatures, loops, branches and
    calls. Inside, the parts are tensors of their own: elementwise ops become formulas, movement and sums are done with
    each part, products four times, and Fourier transforms are products with matrices (lengths up to 4,096).
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect"];
}

// On modules: signatures and calls change together.
def StableHLOLegalizeQuantToMath : Pass<"stablehlo-legalize-quant-to-math", "::mlir::ModuleOp"> {
  let summary = "Make integer tensors of quantized ones, and formulas of what is computed with them";
  let description = [{
    In signatures, loops, branches and calls a quantized tensor is the integers that are stored. What only moves elements
    moves integers; other ops compute with the floats that the integers stand for, and quantize the result.

    Before:
    ```mlir
    %q = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 0.5:3>>
    ```
    After: `%q = convert(round_nearest_even(clamp(-128, %x / 0.5 + 3, 127)))`, a `tensor<4xi8>`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

def ExpandStableHLO : Pass<"expand-stablehlo", "::mlir::func::FuncOp"> {
  let summary = "Write ops of StableHLO and CHLO that TTIR has no counterpart of by others";
  let description = [{
    Reductions of regions without a name in TTIR become halves that are combined, windows become slices, padding between
    elements a concatenation, factorizations loops, random bits arithmetic on words of 32 bits, and broadcasts of CHLO
    explicit. Custom calls and composites that an op stands for become that op; `tt.host_call` becomes
    `debug.host_call`, whose function is the call's `backend_config`.

    Before: `%r = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>`
    After: `%r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ...`
  }];
  let dependentDialects = ["::mlir::chlo::ChloDialect", "::mlir::stablehlo::StablehloDialect",
                           "::mlir::tt::debug::DebugDialect", "::mlir::tt::ttir::TTIRDialect"];
}

// On modules: regions become functions.
def OutlineStableHLOControlFlow : Pass<"outline-stablehlo-control-flow", "::mlir::ModuleOp"> {
  let summary = "Make functions of the regions of loops and branches, and calls of composites";
  let description = [{
    `stablehlo.while`, `if` and `case` become `ttcore.while` and `ttcore.case`, which name private functions of what was
    a region. What a region uses from outside becomes an argument, unless it is a small constant, which is made again.
    What a loop carries without changing it is an argument, too. `stablehlo.composite` becomes a call of its
    decomposition.

    Before:
    ```mlir
    %r = "stablehlo.if"(%pred) ({ stablehlo.return %x : tensor<f32> },
                                { %n = stablehlo.negate %x : tensor<f32>
                                  stablehlo.return %n : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
    ```
    After: `%r = ttcore.case([@f_branch, @f_branch_0], %pred, [%x]) : tensor<i1>, (tensor<f32>) -> tensor<f32>`
  }];
  let options = [Option<"callComposites", "call-composites", "bool", "true",
                        "Call the decompositions of composites">];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect", "::mlir::func::FuncDialect"];
}

def ConvertStableHLOToTTIR : Pass<"convert-stablehlo-to-ttir", "::mlir::func::FuncOp"> {
  let summary = "Lower StableHLO to TTIR";
  let description = [{
    Most elementwise ops have a counterpart of another name. Products become matrix products between reshapes,
    reductions with a region of one op become that op's reduction, windows become pools, and convolutions
    `ttir.conv2d`. Every op that is left is named with the reason.

    Before: `%0 = stablehlo.exponential %a : tensor<4xf32>`
    After: `%0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

#endif // TTMLIR_CONVERSION_STABLEHLOTOTTIR_PASSES_TD
