// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @sdpa(%q: tensor<1x8x64x32xbf16>, %k: tensor<1x4x64x32xbf16>, %v: tensor<1x4x64x32xbf16>, %m: tensor<1x1x64x64xbf16>) -> tensor<1x8x64x32xbf16> {
  // CHECK: "ttir.scaled_dot_product_attention"{{.*}} <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 1.250000e-01 : f32}>
  %0 = "ttir.scaled_dot_product_attention"(%q, %k, %v, %m) <{is_causal = false, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>, scale = 1.250000e-01 : f32}> : (tensor<1x8x64x32xbf16>, tensor<1x4x64x32xbf16>, tensor<1x4x64x32xbf16>, tensor<1x1x64x64xbf16>) -> tensor<1x8x64x32xbf16>
  return %0 : tensor<1x8x64x32xbf16>
}
func.func @cache(%c: tensor<1x4x96x32xbf16>, %x: tensor<1x4x64x32xbf16>, %t: tensor<1x4x1x32xbf16>, %i: tensor<1xi32>) {
  // CHECK: "ttir.fill_cache"{{.*}} <{batch_offset = 0 : i32}>
  "ttir.fill_cache"(%c, %x) <{batch_offset = 0 : i32}> : (tensor<1x4x96x32xbf16>, tensor<1x4x64x32xbf16>) -> ()
  // CHECK: "ttir.update_cache"{{.*}} <{batch_offset = 0 : i32}>
  "ttir.update_cache"(%c, %t, %i) <{batch_offset = 0 : i32}> : (tensor<1x4x96x32xbf16>, tensor<1x4x1x32xbf16>, tensor<1xi32>) -> ()
  return
}
