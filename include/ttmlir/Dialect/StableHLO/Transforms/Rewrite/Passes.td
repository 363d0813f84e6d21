//===- Passes.td - passes from StableHLO to StableHLO ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_PASSES_TD
#define TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_PASSES_TD

include "mlir/Pass/PassBase.td"

class StableHLORewrite_Pass<string argument, string anchor> : Pass<argument, anchor> {
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect", "::mlir::func::FuncDialect"];
}
class StableHLORewrite_FunctionPass<string argument> : StableHLORewrite_Pass<argument, "::mlir::func::FuncOp">;
class StableHLORewrite_ModulePass<string argument> : StableHLORewrite_Pass<argument, "::mlir::ModuleOp">;

//===----------------------------------------------------------------------===//
// Dynamic shapes
//===----------------------------------------------------------------------===//

def StablehloRefineArguments : StableHLORewrite_ModulePass<"stablehlo-refine-arguments"> {
  let summary = "Set static types of the main function's arguments";
  let description = [{
    The body still sees the types that it was written for, through a custom call that `stablehlo-refine-shapes` removes.

    Before: `func.func @main(%a: tensor<?xf32>)`
    After, with `types=tensor<4xf32>`:
    ```mlir
    func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
      %shape = stablehlo.constant dense<4> : tensor<1xi64>
      %0 = stablehlo.custom_call @stablehlo.shape_refinement_operand_wrapper(%a, %shape)
          {indices_of_shape_operands = dense<1> : tensor<1xi64>} : (tensor<4xf32>, tensor<1xi64>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```
  }];
  let options = [ListOption<"refinedTypes", "types", "std::string", "The type of each argument of the main function">];
}

def StablehloRefineShapes : StableHLORewrite_ModulePass<"stablehlo-refine-shapes"> {
  let summary = "Infer shapes from those of the arguments";
  let description = [{
    From public functions on: computed sizes become constants, results get the shapes that follow from their operands,
    and functions that are called with other shapes than they say are put in the place of their calls.

    Before:
    ```mlir
    func.func @main(%a: tensor<4xf32>) -> tensor<?xf32> {
      %size = stablehlo.get_dimension_size %a, dim = 0 : (tensor<4xf32>) -> tensor<i32>
      %shape = stablehlo.reshape %size : (tensor<i32>) -> tensor<1xi32>
      %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```
    After:
    ```mlir
    func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
      %shape = stablehlo.constant dense<4> : tensor<1xi32>
      %0 = stablehlo.dynamic_iota %shape, dim = 0 : (tensor<1xi32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def StablehloCanonicalizeDynamism : StableHLORewrite_FunctionPass<"stablehlo-canonicalize-dynamism"> {
  let summary = "Replace ops with computed shapes by those with static ones, where the shape is constant";
  let description = [{
    Custom calls whose operands are the shapes of their results lose these operands where the results are static.

    Before: `%0 = stablehlo.dynamic_iota %four, dim = 0 : (tensor<1xi32>) -> tensor<4xf32>`
    After: `%0 = stablehlo.iota dim = 0 : tensor<4xf32>`
  }];
}

def StablehloCheckShapeAssertions : StableHLORewrite_FunctionPass<"stablehlo-check-shape-assertions"> {
  let summary = "Check the shape assertions of a module";
  let description = [{
    An assertion that holds is removed; one that does not is an error, with its own message; so is one that is not
    constant, because shapes are still unknown.

    Before: `stablehlo.custom_call @shape_assertion(%true) {error_message = "...", ...} : (tensor<i1>) -> ()`
    After: nothing
  }];
  let options = [Option<"enableShapeAssertions", "enable-shape-assertions", "bool", "true",
                        "Check; else assertions are removed only">];
}

def ShapeLegalizeToStablehlo : StableHLORewrite_FunctionPass<"shape-legalize-to-stablehlo"> {
  let summary = "Compute shapes of the shape dialect with tensors of StableHLO";
  let description = [{
    Shapes become tensors of i32. Casts stand between them and users of other dialects.

    Before: `%0 = shape.shape_of %a : tensor<?x3xf32> -> tensor<2xindex>`
    After: `%0 = stablehlo.concatenate %size, %three, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>`, with
    `stablehlo.get_dimension_size` of `%a` in `%size`
  }];
  let dependentDialects = ["::mlir::stablehlo::StablehloDialect"];
}

//===----------------------------------------------------------------------===//
// Simplification
//===----------------------------------------------------------------------===//

def StablehloAggressiveFolder : StableHLORewrite_FunctionPass<"stablehlo-aggressive-folder"> {
  let summary = "Fold constants";
  let description = [{
    Elementwise ops, and ops that move elements, of constant operands become constants.

    Before: `%1 = stablehlo.add %c, %c : tensor<2xi32>`, with `%c = stablehlo.constant dense<[1, 2]> : tensor<2xi32>`
    After: `%1 = stablehlo.constant dense<[2, 4]> : tensor<2xi32>`
  }];
  let options = [
    Option<"assumeNoUndeclaredSideEffects", "assume-no-undeclared-side-effects", "bool", "false",
           "Remove unused calls, too">,
    Option<"foldOpElementLimit", "fold-op-element-limit", "int64_t", "65536",
           "Make no constants of more elements than this; splats count as one">,
    Option<"optimizeFloat", "optimize-float", "bool", "true", "Compute with floats, too">,
  ];
}

def StablehloAggressiveSimplification : StableHLORewrite_FunctionPass<"stablehlo-aggressive-simplification"> {
  let summary = "Simplify ops and remove those without effect";
  let description = [{
    Neutral elements, moves that undo each other, and unused ops are removed; constants come last; what only moves
    elements of constants becomes a constant.

    Before: `%0 = stablehlo.add %zero, %a : tensor<4xf32>`
    After: uses of `%a`, where -0 and 0 are not distinguished: for integers, and for a zero that is negative
  }];
  let options = [Option<"foldOpElementLimit", "fold-op-element-limit", "int64_t", "65536",
                        "Make no constants of more elements than this; splats count as one">];
}

def StablehloTargetIndependentOptimization
    : StableHLORewrite_FunctionPass<"stablehlo-target-independent-optimization"> {
  let summary = "Simplify and fold until nothing changes";
  let description = [{
    The patterns of `stablehlo-aggressive-simplification` and `stablehlo-aggressive-folder` together.

    Before: `%1 = stablehlo.multiply %0, %one : tensor<2xi32>`, of `%0 = stablehlo.add %c, %c : tensor<2xi32>`
    After: `%1 = stablehlo.constant dense<[2, 4]> : tensor<2xi32>`
  }];
  let options = [
    Option<"assumeNoUndeclaredSideEffects", "assume-no-undeclared-side-effects", "bool", "false",
           "Remove unused calls, too">,
    Option<"foldOpElementLimit", "fold-op-element-limit", "int64_t", "65536",
           "Make no constants of more elements than this; splats count as one">,
    Option<"optimizeFloat", "optimize-float", "bool", "true", "Compute with floats, too">,
  ];
}

//===----------------------------------------------------------------------===//
// Composites and types
//===----------------------------------------------------------------------===//

def StablehloLegalizeCompositeToCall : StableHLORewrite_FunctionPass<"stablehlo-legalize-composite-to-call"> {
  let summary = "Call the decompositions of composites";
  let description = [{
    Before: `%0 = stablehlo.composite "my.gelu" %a {decomposition = @gelu} : (tensor<4xf32>) -> tensor<4xf32>`
    After: `%0 = call @gelu(%a) : (tensor<4xf32>) -> tensor<4xf32>`
  }];
  let options = [ListOption<"except", "except", "std::string", "Names of composites that stay">];
}

def StablehloWrapInComposite : StableHLORewrite_ModulePass<"stablehlo-wrap-in-composite"> {
  let summary = "Wrap ops in composites, which keep their name";
  let description = [{
    The op itself becomes the body of the composite's decomposition, its attributes those of the composite.

    Before: `%0 = stablehlo.add %a, %b : tensor<4xf32>`
    After, with `op-names=stablehlo.add`:
    ```mlir
    func.func @main(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.composite "stablehlo.add" %a, %b {decomposition = @stablehlo.add.impl} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    func.func private @stablehlo.add.impl(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
      %0 = stablehlo.add %a, %b : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let options = [ListOption<"opNames", "op-names", "std::string", "Ops to wrap, with their dialect">,
                 Option<"version", "version", "int32_t", "0", "Version of the composites">];
}

def StablehloLegalizeQuantizedOpToQDQ : StableHLORewrite_FunctionPass<"stablehlo-legalize-quantized-op-to-qdq"> {
  let summary = "Compute with dequantized elements";
  let description = [{
    Before: `%0 = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>`
    After: `stablehlo.uniform_dequantize` of `%a` and `%b`, their sum, a `tensor<4xf32>`, and its
    `stablehlo.uniform_quantize`
  }];
}

def StablehloLegalizeQDQToQuantizedOp : StableHLORewrite_FunctionPass<"stablehlo-legalize-qdq-to-quantized-op"> {
  let summary = "Fuse ops between a dequantization and a quantization to quantized ops";
  let description = [{
    The inverse of `stablehlo-legalize-quantized-op-to-qdq`, for ops that take quantized elements.

    Before: `stablehlo.uniform_quantize` of the sum of two results of `stablehlo.uniform_dequantize`
    After: `%0 = stablehlo.add %a, %b : tensor<4x!quant.uniform<i8:f32, 0.5>>`
  }];
}

def StablehloConvertToSignless : StableHLORewrite_ModulePass<"stablehlo-convert-to-signless"> {
  let summary = "Drop the signs of integer types";
  let description = [{
    For consumers who tell signs by the op. What an op computes may depend on the sign, which is gone.

    Before: `func.func @f(%a: tensor<4xui8>) -> tensor<4xui8>`
    After: `func.func @f(%a: tensor<4xi8>) -> tensor<4xi8>`
  }];
}

#endif // TTMLIR_DIALECT_STABLEHLO_TRANSFORMS_REWRITE_PASSES_TD
