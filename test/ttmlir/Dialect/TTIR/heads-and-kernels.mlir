// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @split(%x: tensor<2x8x48xf32>) -> tensor<2x4x8x4xf32> {
  // CHECK: %query, %key, %value = "ttir.split_query_key_value_and_split_heads"
  %q, %k, %v = "ttir.split_query_key_value_and_split_heads"(%x) <{num_heads = 4 : ui32, transpose_key = true}> : (tensor<2x8x48xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x4x4x8xf32>, tensor<2x4x8x4xf32>)
  return %q : tensor<2x4x8x4xf32>
}
func.func @split_two(%x: tensor<2x8x16xf32>, %kv: tensor<2x8x16xf32>) -> tensor<2x2x8x4xf32> {
  // CHECK: num_kv_heads = 2 : ui32
  %q, %k, %v = "ttir.split_query_key_value_and_split_heads"(%x, %kv) <{num_heads = 4 : ui32, num_kv_heads = 2 : ui32, transpose_key = false}> : (tensor<2x8x16xf32>, tensor<2x8x16xf32>) -> (tensor<2x4x8x4xf32>, tensor<2x2x8x4xf32>, tensor<2x2x8x4xf32>)
  return %v : tensor<2x2x8x4xf32>
}
func.func @paged(%cache: tensor<8x4x32x64xf32>, %x: tensor<1x4x32x64xf32>, %table: tensor<4x8xi32>, %at: tensor<4xi32>) {
  // CHECK: ttir.paged_fill_cache
  "ttir.paged_fill_cache"(%cache, %x, %table) : (tensor<8x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<4x8xi32>) -> ()
  // CHECK: "ttir.paged_update_cache"{{.*}} <{share_cache = false}>
  "ttir.paged_update_cache"(%cache, %x, %at, %table) : (tensor<8x4x32x64xf32>, tensor<1x4x32x64xf32>, tensor<4xi32>, tensor<4x8xi32>) -> ()
  return
}
func.func @slice(%x: tensor<4x6xf32>, %begins: tensor<2xi32>, %ends: tensor<2xi32>) -> tensor<2x3xf32> {
  // CHECK: "ttir.slice_dynamic"{{.*}} <{step = [1 : i32, 2 : i32]}>
  %0 = "ttir.slice_dynamic"(%x, %begins, %ends) <{step = [1 : i32, 2 : i32]}> : (tensor<4x6xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}
func.func @dropout(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  // CHECK: "ttir.dropout"{{.*}} <{prob = 5.000000e-01 : f32, scale = 2.000000e+00 : f32, seed = 7 : ui32, use_per_device_seed = true}>
  %0 = "ttir.dropout"(%x) <{prob = 0.5 : f32, scale = 2.0 : f32, seed = 7 : ui32}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
