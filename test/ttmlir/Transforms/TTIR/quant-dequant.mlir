// RUN: ttmlir-opt %s --ttir-quant-dequant-conversion -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir --ttir-quant-dequant-conversion | diff - %t.mlir
// Caches are written in place, and layouts say what is distributed.
// RUN: ttmlir-opt %s -o %t.source.mlir
// RUN: ttmlir-opt %s --ttir-consolidate-static-cache-updates --ttir-multi-device-tensor-annotation | diff - %t.source.mlir

!q = !quant.uniform<i32:f32, 1.000000e-01>
!r = !quant.uniform<i32:f32, 2.000000e-01:3>
!axis = !quant.uniform<i32:f32:0, {1.000000e-01, 2.000000e-01}>

// CHECK-LABEL: func.func @moved
// CHECK: %[[P:.*]] = "ttir.permute"(%arg0)
// CHECK: %[[R:.*]] = "ttir.reshape"(%[[P]])
// CHECK: %[[F:.*]] = "ttir.dequantize"(%[[R]])
// CHECK: return %[[F]]
func.func @moved(%x: tensor<4x8x!q>) -> tensor<2x16xf32> {
  %0 = "ttir.dequantize"(%x) : (tensor<4x8x!q>) -> tensor<4x8xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %2 = "ttir.reshape"(%1) <{shape = [2 : i32, 16 : i32]}> : (tensor<8x4xf32>) -> tensor<2x16xf32>
  return %2 : tensor<2x16xf32>
}

// CHECK-LABEL: func.func @joined
// CHECK: %[[C:.*]] = "ttir.concat"(%arg0, %arg0)
// CHECK: %[[R:.*]] = "ttir.requantize"(%[[C]])
// CHECK: return %[[C]], %[[R]]
func.func @joined(%x: tensor<4x8x!q>) -> (tensor<8x8x!q>, tensor<8x8x!r>) {
  %0 = "ttir.dequantize"(%x) : (tensor<4x8x!q>) -> tensor<4x8xf32>
  %1 = "ttir.concat"(%0, %0) <{dim = 0 : si32}> : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<8x8xf32>
  %2 = "ttir.quantize"(%1) : (tensor<8x8xf32>) -> tensor<8x8x!q>
  %3 = "ttir.quantize"(%1) : (tensor<8x8xf32>) -> tensor<8x8x!r>
  return %2, %3 : tensor<8x8x!q>, tensor<8x8x!r>
}

// Sums are sums of floats, other scales are not one tensor's, and scales of a dimension do not move with it.
// CHECK-LABEL: func.func @stays
// CHECK: %[[A:.*]] = "ttir.dequantize"(%arg0)
// CHECK: %[[B:.*]] = "ttir.dequantize"(%arg1)
// CHECK: "ttir.add"(%[[A]], %[[B]])
// CHECK: "ttir.concat"(%[[A]], %[[B]])
// CHECK: %[[C:.*]] = "ttir.dequantize"(%arg2)
// CHECK: "ttir.permute"(%[[C]])
func.func @stays(%x: tensor<4x!q>, %y: tensor<4x!r>, %z: tensor<2x3x!axis>) -> (tensor<4xf32>, tensor<8xf32>, tensor<3x2xf32>) {
  %0 = "ttir.dequantize"(%x) : (tensor<4x!q>) -> tensor<4xf32>
  %1 = "ttir.dequantize"(%y) : (tensor<4x!r>) -> tensor<4xf32>
  %2 = "ttir.add"(%0, %1) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.concat"(%0, %1) <{dim = 0 : si32}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %4 = "ttir.dequantize"(%z) : (tensor<2x3x!axis>) -> tensor<2x3xf32>
  %5 = "ttir.permute"(%4) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %2, %3, %5 : tensor<4xf32>, tensor<8xf32>, tensor<3x2xf32>
}

// What was read of a cache before it is written to.
// CHECK-LABEL: func.func @cache
// CHECK: %[[A:.*]] = "ttir.dequantize"(%arg0)
// CHECK: "ttir.fill_cache"(%arg0, %arg1)
// CHECK: "ttir.permute"(%[[A]])
func.func @cache(%x: tensor<2x2x4x8x!q>, %y: tensor<1x2x4x8x!q>) -> tensor<2x2x4x8xf32> {
  %0 = "ttir.dequantize"(%x) : (tensor<2x2x4x8x!q>) -> tensor<2x2x4x8xf32>
  "ttir.fill_cache"(%x, %y) <{batch_offset = 0 : i32}> : (tensor<2x2x4x8x!q>, tensor<1x2x4x8x!q>) -> ()
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0, 2, 3>}> : (tensor<2x2x4x8xf32>) -> tensor<2x2x4x8xf32>
  return %1 : tensor<2x2x4x8xf32>
}
