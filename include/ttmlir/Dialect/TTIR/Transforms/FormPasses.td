//===- FormPasses.td - passes to other forms of TTIR -------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTIR_TRANSFORMS_FORMPASSES_TD
#define TTMLIR_DIALECT_TTIR_TRANSFORMS_FORMPASSES_TD

include "mlir/Pass/PassBase.td"

def TTIRExplicateTMs : Pass<"ttir-explicate-tms"> {
  let summary = "Make implicit broadcasts of elementwise ops explicit";
  let description = [{
    The inverse of `ttir-implicit-broadcast-fold`: operands are reshaped to the rank of the result, and repeated to its
    shape. Operands that are one value share the ops.

    Before:
    ```mlir
    %0 = "ttir.add"(%a, %b) : (tensor<4x8xf32>, tensor<8xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.reshape"(%b) <{shape = [1 : i32, 8 : i32]}> : (tensor<8xf32>) -> tensor<1x8xf32>
    %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
    %2 = "ttir.add"(%a, %1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRFoldConstantReshapeBroadcast : Pass<"ttir-fold-constant-reshape-broadcast"> {
  let summary = "Fold reshapes and broadcasts of constants";
  let description = [{
    Constants, and tensors of one value, are created in the shape that they are used in. Large constants of many values
    stay unchanged, as in all folding.

    Before:
    ```mlir
    %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
    %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 4, 8>}> : (tensor<1x1xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRFoldFullToScalar : Pass<"ttir-fold-full-to-scalar"> {
  let summary = "Replace filled tensors by broadcasts of one value";
  let description = [{
    `full`, `zeros` and `ones` that an elementwise op reads have one value, in as many dimensions as before, if another
    operand gives the result its shape. Values that `ttcore.observed` names stay.

    Before:
    ```mlir
    %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 4, 8>}> : () -> tensor<4x8xf32>
    %1 = "ttir.multiply"(%a, %0) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1, 1>}> : () -> tensor<1x1xf32>
    %1 = "ttir.multiply"(%a, %0) : (tensor<4x8xf32>, tensor<1x1xf32>) -> tensor<4x8xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRMoveReshapeToConstant : Pass<"ttir-move-reshape-to-constant"> {
  let summary = "Move reshapes to constants";
  let description = [{
    An elementwise op of a reshape and a constant works on the value before the reshape, which follows the op then. The
    constant is stored in the other shape. `ttir-erase-inverse-ops` does so where fewer ops are left; this pass does it
    everywhere.

    Before:
    ```mlir
    %0 = "ttir.reshape"(%x) <{shape = [8 : i32, 4 : i32]}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    %1 = "ttir.add"(%0, %constant) : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.add"(%x, %constant) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
    %1 = "ttir.reshape"(%0) <{shape = [8 : i32, 4 : i32]}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRToTTIRDecomposition : Pass<"ttir-to-ttir-decomposition"> {
  let summary = "Decompose ops to more common ones";
  let description = [{
    `dot_general` as a product of matrices with permutes and reshapes around it, `index` and `index_select` as slices,
    `squeeze` and `unsqueeze` as reshapes, `get_dimension_size` as a constant. Tensors with layouts or sizes that are
    not known stay, as do selections that count from the end.

    Before:
    ```mlir
    %0 = "ttir.index"(%x) <{dim = 1 : i32, begin = 2 : i32, end = 8 : i32, step = 3 : i32}> : (tensor<4x8xf32>) -> tensor<4x2xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.slice_static"(%x) <{begins = [0 : i32, 2 : i32], ends = [4 : i32, 8 : i32], step = [1 : i32, 3 : i32]}> : (tensor<4x8xf32>) -> tensor<4x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
  let options = [
    Option<"config", "config", "::mlir::tt::ttir::DecompositionConfig", "::mlir::tt::ttir::DecompositionConfig::TTNN",
           "Consumer of the ops; all support these ops",
           [{::llvm::cl::values(
               clEnumValN(::mlir::tt::ttir::DecompositionConfig::TTNN, "ttnn", "Calls of the TTNN library"),
               clEnumValN(::mlir::tt::ttir::DecompositionConfig::TTMetal, "ttmetal", "Kernels"),
               clEnumValN(::mlir::tt::ttir::DecompositionConfig::CPUFallback, "cpu-fallback", "The host"))}]>
  ];
}

def TTIRDecomposeComplexPermute : Pass<"ttir-decompose-complex-permute"> {
  let summary = "Decompose permutes into exchanges of two dimensions";
  let description = [{
    Before:
    ```mlir
    %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 2, 0>}> : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.permute"(%x) <{permutation = array<i64: 1, 0, 2>}> : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
    %1 = "ttir.permute"(%0) <{permutation = array<i64: 0, 2, 1>}> : (tensor<3x2x4xf32>) -> tensor<3x4x2xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRDecomposeComplexReshape : Pass<"ttir-decompose-complex-reshape"> {
  let summary = "Decompose reshapes into changes at one place each";
  let description = [{
    A reshape that splits or merges dimensions at several places, without values passing from one to the other, becomes
    one for each place.

    Before:
    ```mlir
    %0 = "ttir.reshape"(%x) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<2x3x20xf32>) -> tensor<6x4x5xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.reshape"(%x) <{shape = [6 : i32, 20 : i32]}> : (tensor<2x3x20xf32>) -> tensor<6x20xf32>
    %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 4 : i32, 5 : i32]}> : (tensor<6x20xf32>) -> tensor<6x4x5xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRFlattenSlidingWindow : Pass<"ttir-flatten-sliding-window"> {
  let summary = "Flatten the images of convolutions and pools";
  let description = [{
    Channels-last images become 1 x 1 x (batch * height * width) x channels, as TTNN has them; the op keeps the sizes in
    `flattened_compat_info`. Lowering to TTNN takes both forms.

    Before:
    ```mlir
    %0 = "ttir.max_pool2d"(%x) <{kernel = 2 : i32, stride = 2 : i32, ...}> : (tensor<1x8x8x3xf32>) -> tensor<1x4x4x3xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.reshape"(%x) <{shape = [1 : i32, 1 : i32, 64 : i32, 3 : i32]}> : (tensor<1x8x8x3xf32>) -> tensor<1x1x64x3xf32>
    %1 = "ttir.max_pool2d"(%0) <{flattened_compat_info = #ttir<flattened_compat batch_size = 1, input_height = 8, input_width = 8>, kernel = 2 : i32, stride = 2 : i32, ...}> : (tensor<1x1x64x3xf32>) -> tensor<1x1x16x3xf32>
    %2 = "ttir.reshape"(%1) <{shape = [1 : i32, 4 : i32, 4 : i32, 3 : i32]}> : (tensor<1x1x16x3xf32>) -> tensor<1x4x4x3xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRReductionForceKeepDim : Pass<"ttir-reduction-force-keep-dim"> {
  let summary = "Keep the dimensions of reductions and reshape afterwards";
  let description = [{
    Before:
    ```mlir
    %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<4x8xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.sum"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x8xf32>) -> tensor<4x1xf32>
    %1 = "ttir.reshape"(%0) <{shape = [4 : i32]}> : (tensor<4x1xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRPredicateTypeAlignment : Pass<"ttir-predicate-type-alignment"> {
  let summary = "Set the element type of comparisons to that of their operands";
  let description = [{
    Comparisons and logical ops with a result of i1 give 0 and 1 in the element type of their operands. `where` and
    logical ops read these; a cast brings back i1 for everything else.

    Before:
    ```mlir
    %0 = "ttir.lt"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %1 = "ttir.where"(%0, %a, %b) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.lt"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %1 = "ttir.where"(%0, %a, %b) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRQuantDataTypeConversion : Pass<"ttir-quant-data-type-conversion"> {
  let summary = "Store quantized values in integers of another width";
  let description = [{
    Scales, zero points and the range of the values stay. A width that cannot hold the range is an error.

    Before: `tensor<4x!quant.uniform<i8:f32, 0.1>>`
    After: `tensor<4x!quant.uniform<i32<-128:127>:f32, 0.1>>`
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect"];
  let options = [Option<"targetBitWidth", "target-bit-width", "uint32_t", "32", "Bits of the integers: 8, 16 or 32">];
}

def TTIRQuantizedAsIntegers : Pass<"ttir-quantized-as-integers", "::mlir::func::FuncOp"> {
  let summary = "Represent quantized tensors by integers";
  let description = [{
    Where others see them - arguments, results, calls - and on the chip, a quantised tensor is its integers, of 32 bits.
    Casts to and from quantised types become quantize_unrolled and dequantize_unrolled, with a clamp to the storage type's
    range; data movement moves the integers, and any other op computes with the numbers that they stand for.

    Before:
    ```mlir
    %0 = "ttir.quantize"(%x) : (tensor<4x28xf32>) -> tensor<4x28x!quant.uniform<i8:f32, 2.500000e-01:3>>
    ```
    After:
    ```mlir
    %0 = "ttir.constant"() <{value = dense<2.500000e-01> : tensor<1xf32>}> : () -> tensor<1xf32>
    %1 = "ttir.constant"() <{value = dense<3> : tensor<1xi32>}> : () -> tensor<1xi32>
    %2 = "ttir.quantize_unrolled"(%x, %0, %1) : (tensor<4x28xf32>, tensor<1xf32>, tensor<1xi32>) -> tensor<4x28xi32>
    %3 = "ttir.clamp_scalar"(%2) <{max = 127 : i32, min = -128 : i32}> : (tensor<4x28xi32>) -> tensor<4x28xi32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

def TTIRQuantDequantConversion : Pass<"ttir-quant-dequant-conversion"> {
  let summary = "Move data movement ops before dequantization";
  let description = [{
    Ops that only move elements (reshape, permute, slice, concat, ...) come before the `dequantize` of their operands,
    if those have one scale and zero point for all elements. A `quantize` of what was dequantized is what that was, or
    a `requantize`. Other ops compute with floats.

    Before:
    ```mlir
    %0 = "ttir.dequantize"(%q) : (tensor<4x8x!quant.uniform<i32:f32, 0.1>>) -> tensor<4x8xf32>
    %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.permute"(%q) <{permutation = array<i64: 1, 0>}> : (tensor<4x8x!quant.uniform<i32:f32, 0.1>>) -> tensor<8x4x!quant.uniform<i32:f32, 0.1>>
    %1 = "ttir.dequantize"(%0) : (tensor<8x4x!quant.uniform<i32:f32, 0.1>>) -> tensor<8x4xf32>
    ```
  }];
  let dependentDialects = ["::mlir::quant::QuantDialect", "::mlir::tt::ttir::TTIRDialect"];
}

def TTIRIntegerProducts : Pass<"ttir-integer-products", "::mlir::func::FuncOp"> {
  let summary = "Multiply quantized integers instead of dequantized floats";
  let description = [{
    A `matmul` or `conv2d` of two tensors of f32 that are integers of 8 bits or less, minus a zero point, times a scale,
    becomes the product of these integers in 32 bits, times both scales. A scale is one number for all that is summed
    up: of a row, a column or an output channel at most. Sums that 32 bits might not hold, and products of too few
    values to gain anything, stay as they are, as do products of observed values.

    Before:
    ```mlir
    %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x64xui8>) -> tensor<32x64xf32>
    %1 = "ttir.multiply"(%0, %s) : (tensor<32x64xf32>, tensor<1x1xf32>) -> tensor<32x64xf32>
    %2 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<64x48xi8>) -> tensor<64x48xf32>
    %3 = "ttir.multiply"(%2, %t) : (tensor<64x48xf32>, tensor<1x48xf32>) -> tensor<64x48xf32>
    %4 = "ttir.matmul"(%1, %3) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
    ```
    After:
    ```mlir
    %0 = "ttir.multiply"(%s, %t) : (tensor<1x1xf32>, tensor<1x48xf32>) -> tensor<1x48xf32>
    %1 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x64xui8>) -> tensor<32x64xi32>
    %2 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<64x48xi8>) -> tensor<64x48xi32>
    %3 = "ttir.matmul"(%1, %2) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xi32>, tensor<64x48xi32>) -> tensor<32x48xi32>
    %4 = "ttir.typecast"(%3) <{conservative_folding = false}> : (tensor<32x48xi32>) -> tensor<32x48xf32>
    %5 = "ttir.multiply"(%4, %0) : (tensor<32x48xf32>, tensor<1x48xf32>) -> tensor<32x48xf32>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect"];
}

#endif // TTMLIR_DIALECT_TTIR_TRANSFORMS_FORMPASSES_TD
