// RUN: ttmlir-opt %s --ttnn-resolve-composites | FileCheck %s --check-prefixes=CHECK,OPS
// RUN: ttmlir-opt %s --ttnn-resolve-composites=composite-resolution=validate | FileCheck %s --check-prefixes=CHECK,OPS
// RUN: ttmlir-opt %s --ttnn-resolve-composites=composite-resolution=inline | FileCheck %s --check-prefixes=CHECK,CALLS
// RUN: ttmlir-opt %s --ttnn-resolve-composites=composite-resolution=inline --ttir-inline-functions | FileCheck %s --check-prefix=INLINE
// RUN: not ttmlir-opt %s --ttnn-resolve-composites=composite-resolution=force-promote 2>&1 | FileCheck %s --check-prefix=FORCE
// RUN: not ttmlir-opt %s --ttnn-resolve-composites=composite-resolution=never 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: 'never' is not possible; expected auto, inline, validate or force-promote
// FORCE: 'twice' is not an op of TTNN: TTNN has no op 'twice'
// FORCE: 'tenstorrent.sum' is not an op of TTNN: 'ttnn.sum' has no attribute 'axis'
// FORCE: 'softmax' is not an op of TTNN: 'ttnn.softmax' op attribute 'dimension' is 2; expected -2 to 1 for rank 2

func.func private @silu(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "ttnn.sigmoid"(%x) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "ttnn.multiply"(%x, %0) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func private @twice(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "ttnn.add"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: @main
// OPS: %[[S:.*]] = "ttnn.silu"(%arg0)
// OPS: %[[M:.*]] = "ttnn.softmax"(%[[S]]) <{dimension = 1 : si32, numericStable = false}>
// CALLS: call @silu
// CALLS: call @silu
// CHECK: call @twice
// CHECK: call @twice
// CHECK: call @twice
// INLINE-LABEL: @main
// INLINE: ttnn.sigmoid
// INLINE: ttnn.multiply
// INLINE-NOT: call
func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "ttcore.composite"(%x) <{composite_name = "tenstorrent.silu", decomposition = @silu}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "ttcore.composite"(%0) <{composite_name = "softmax", composite_attributes = {dimension = 1 : si32}, decomposition = @silu}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "ttcore.composite"(%1) <{composite_name = "twice", decomposition = @twice}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = "ttcore.composite"(%2) <{composite_name = "tenstorrent.sum", composite_attributes = {axis = 1 : i32}, decomposition = @twice}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = "ttcore.composite"(%3) <{composite_name = "softmax", composite_attributes = {dimension = 2 : si32}, decomposition = @twice}> : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}
