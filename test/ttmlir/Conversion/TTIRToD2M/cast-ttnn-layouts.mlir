// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttir-cast-ttnn-layouts | FileCheck %s

#dram = #ttnn.buffer_type<dram>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>

// A tensor without a layout gets tiles in DRAM; the values of a block format are tiles.
// CHECK: = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-LABEL: func.func @both(
// CHECK-SAME: %[[X:.*]]: tensor<40x32xf32, #[[F32:.*]]>, %[[B:.*]]: tensor<32x32xbf16, #[[BFP:.*]]>) -> (tensor<40x32xf32, #[[F32]]>, tensor<32x32xbf16, #[[BFP]]>)
// CHECK-NEXT: %[[PLAIN:.*]] = ttir.ttnn_metal_layout_cast %[[X]] : tensor<40x32xf32, #[[F32]]> -> tensor<40x32xf32>
// CHECK-NEXT: %[[BLOCKS:.*]] = ttir.ttnn_metal_layout_cast %[[B]] : tensor<32x32xbf16, #[[BFP]]> -> tensor<32x32x!ttcore.tile<32x32, bfp_bf8>>
// CHECK-NEXT: %[[EXP:.*]] = "ttir.exp"(%[[PLAIN]]) : (tensor<40x32xf32>) -> tensor<40x32xf32>
// CHECK-NEXT: %[[FIRST:.*]] = ttir.ttnn_metal_layout_cast %[[EXP]] : tensor<40x32xf32> -> tensor<40x32xf32, #[[F32]]>
// CHECK-NEXT: %[[SECOND:.*]] = ttir.ttnn_metal_layout_cast %[[BLOCKS]]
// CHECK-NEXT: return %[[FIRST]], %[[SECOND]]
func.func @both(%x: tensor<40x32xf32>, %b: tensor<32x32xbf16, #b>) -> (tensor<40x32xf32>, tensor<32x32xbf16, #b>) {
  %0 = "ttir.exp"(%x) : (tensor<40x32xf32>) -> tensor<40x32xf32>
  return %0, %b : tensor<40x32xf32>, tensor<32x32xbf16, #b>
}

// A module without ops of TTIR.
// CHECK-LABEL: func.func @ttnn_alone(
// CHECK: ttir.ttnn_metal_layout_cast
// CHECK: "ttnn.exp"
func.func @ttnn_alone(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttnn.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0 : tensor<32x32xf32>
}

// -----

// expected-error @+1 {{'func.func' op argument 0 is 'memref<4xf32>'; expected a tensor of static shape with elements of a data format}}
func.func @memory(%x: memref<4xf32>) {
  return
}
