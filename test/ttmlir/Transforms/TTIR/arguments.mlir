// RUN: ttmlir-opt %s --ttir-infer-kv-cache-argument-types --ttir-propagate-weight-dtype | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefix=STORED
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=experimental-weight-dtype=bfp_bf2 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: 'bfp_bf2' is not possible; expected none, bfp_bf8 or bfp_bf4

// CHECK-LABEL: func.func @caches
// CHECK-SAME: %arg0: tensor<1x8x64x128xbf16> {ttcore.kv_cache}, %arg1: tensor<1x8x32x128xbf16>, %arg2: tensor<1x8x64x128xbf16>) ->
func.func @caches(%cache: tensor<1x8x64x128xbf16>, %new: tensor<1x8x32x128xbf16>, %other: tensor<1x8x64x128xbf16>) -> tensor<1x8x64x128xbf16> {
  "ttir.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x8x64x128xbf16>, tensor<1x8x32x128xbf16>) -> ()
  "ttir.fill_cache"(%cache, %new) <{batch_offset = 0 : i32}> : (tensor<1x8x64x128xbf16>, tensor<1x8x32x128xbf16>) -> ()
  %0 = "ttir.abs"(%other) : (tensor<1x8x64x128xbf16>) -> tensor<1x8x64x128xbf16>
  "ttir.fill_cache"(%0, %new) <{batch_offset = 0 : i32}> : (tensor<1x8x64x128xbf16>, tensor<1x8x32x128xbf16>) -> ()
  return %cache : tensor<1x8x64x128xbf16>
}

// CHECK-LABEL: func.func @weights
// CHECK: "ttir.permute"
// CHECK: "ttir.matmul"(%arg0, %{{.*}}) {{.*}}{ttcore.weight_dtype = "bfp_bf8"}
// CHECK: "ttir.matmul"(%{{.*}}, %arg1) {{.*}}{ttcore.weight_dtype = "bfp_bf4"}
// An activation is no weight.
// CHECK-NOT: ttcore.weight_dtype
// STORED-DAG: #[[$BF8:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x{{.*}}bfp_bf8
// STORED-DAG: #[[$BF4:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x{{.*}}bfp_bf4
// STORED-DAG: #[[$KERNEL:.*]] = #ttnn.ttnn_layout<(d0, d1, d2, d3){{.*}}bfp_bf8
// STORED-DAG: #[[$ROWS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x1x{{.*}}bfp_bf4
// STORED-LABEL: func.func @weights
// STORED: "ttnn.matmul"(%arg0, %{{.*}}) <{{.*}}> : (tensor<32x32xbf16, #{{.*}}>, tensor<32x32xbf16, #[[$BF8]]>)
// STORED: "ttnn.matmul"(%{{.*}}, %{{.*}}) <{{.*}}> : (tensor<32x32xbf16, #{{.*}}>, tensor<32x32xbf16, #[[$BF4]]>)
// STORED-NOT: ttcore.weight_dtype
func.func @weights(%x: tensor<32x32xbf16>, %w: tensor<32x32xbf16> {ttcore.weight_dtype = "bfp_bf8"}) -> tensor<32x32xbf16> {
  %0 = "ttir.permute"(%w) <{permutation = array<i64: 1, 0>}> : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.matmul"(%x, %0) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.matmul"(%1, %w) {ttcore.weight_dtype = "bfp_bf4"} : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %3 = "ttir.matmul"(%w, %2) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %3 : tensor<32x32xbf16>
}

// Through fusions and lowering, on weights of every kind.
// CHECK-LABEL: func.func @kinds
// STORED-LABEL: func.func @kinds
// STORED-DAG: "ttnn.linear"(%{{.*}}) {{.*}} : (tensor<32x32xf32, #{{.*}}>, tensor<32x32xbf16, #{{.*}}>, tensor<32xf32, #{{.*}}>)
// STORED-DAG: %[[T:.*]] = "ttnn.to_layout"(%arg4)
// STORED-DAG: %[[K:.*]] = "ttnn.typecast"(%[[T]]) : {{.*}} -> tensor<6x3x3x3xbf16, #[[$KERNEL]]>
// STORED-DAG: "ttnn.conv2d"(%{{.*}}, %[[K]], %
// STORED-DAG: %[[Q:.*]] = "ttnn.typecast"(%{{.*}}) : {{.*}} -> tensor<64x32xbf16, #[[$ROWS]]>
// STORED-DAG: "ttnn.matmul"(%{{.*}}, %[[Q]])
func.func @kinds(%x: tensor<32x32xf32>, %w: tensor<32x32xf32> {ttcore.weight_dtype = "bf16"}, %b: tensor<32xf32>, %i: tensor<1x8x8x3xf32>, %k: tensor<6x3x3x3xf32> {ttcore.weight_dtype = "bfp_bf8"}, %q: tensor<2x32x32xf32>) -> (tensor<32x32xf32>, tensor<1x6x6x6xf32>, tensor<32x2x32xf32>) {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.add"(%0, %b) : (tensor<32x32xf32>, tensor<32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.conv2d"(%i, %k) <{dilation = 1 : i32, groups = 1 : i32, padding = 0 : i32, stride = 1 : i32}> : (tensor<1x8x8x3xf32>, tensor<6x3x3x3xf32>) -> tensor<1x6x6x6xf32>
  %3 = "ttir.dot_general"(%1, %q) <{batch_dims_lhs = array<i64>, batch_dims_rhs = array<i64>, contract_dims_lhs = array<i64: 1>, contract_dims_rhs = array<i64: 2>}> {ttcore.weight_dtype = "bfp_bf4"} : (tensor<32x32xf32>, tensor<2x32x32xf32>) -> tensor<32x2x32xf32>
  return %1, %2, %3 : tensor<32x32xf32>, tensor<1x6x6x6xf32>, tensor<32x2x32xf32>
}
