// RUN: ttmlir-opt %s --ttnn-deallocate | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-deallocate --ttnn-deallocate | FileCheck %s

#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[A:.*]] = "ttnn.relu"(%arg0)
// CHECK-NEXT: %[[B:.*]] = "ttnn.exp"(%[[A]])
// CHECK-NEXT: %[[C:.*]] = "ttnn.add"(%[[A]], %[[B]])
// CHECK-NEXT: "ttnn.deallocate"(%[[A]]) <{force = false}>
// CHECK-NEXT: "ttnn.deallocate"(%[[B]]) <{force = false}>
// CHECK-NEXT: %[[D:.*]] = "ttnn.sin"(%[[C]])
// CHECK-NEXT: "ttnn.deallocate"(%[[D]])
// CHECK-NEXT: return %[[C]]
func.func @chain(%x: tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l> {
  %0 = "ttnn.relu"(%x) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
  %1 = "ttnn.exp"(%0) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
  %2 = "ttnn.add"(%0, %1) : (tensor<64x96xf32, #l>, tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
  %3 = "ttnn.sin"(%2) : (tensor<64x96xf32, #l>) -> tensor<64x96xf32, #l>
  return %2 : tensor<64x96xf32, #l>
}
