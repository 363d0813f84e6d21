// RUN: ttmlir-opt %s --ttnn-weight-dtype-conversion=target-dtype=bfp_bf8 | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-weight-dtype-conversion | FileCheck %s --check-prefix=NONE

// NONE-NOT: bfp_bf8

#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>

// CHECK: #[[$W:.*]] = {{.*}}memref<1x1x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
// CHECK-LABEL: func.func @f
func.func @f(%x: tensor<32x32xbf16, #l>, %w: tensor<32x32xbf16, #l> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %dev: !ttnn.device) -> tensor<32x32xbf16, #l> {
  // One cast serves both uses; the input that is no weight stays.
  // CHECK-NEXT: %[[CAST:.*]] = "ttnn.typecast"(%arg1) : {{.*}} -> tensor<32x32xbf16, #[[$W]]>
  // CHECK-NEXT: "ttnn.matmul"(%arg0, %[[CAST]])
  %0 = "ttnn.matmul"(%x, %w) <{transpose_a = false, transpose_b = false}> : (tensor<32x32xbf16, #l>, tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>
  // CHECK-NEXT: "ttnn.matmul"(%{{.*}}, %[[CAST]])
  %1 = "ttnn.matmul"(%0, %w) <{transpose_a = false, transpose_b = false}> : (tensor<32x32xbf16, #l>, tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>
  // CHECK-NEXT: "ttnn.matmul"(%{{.*}}, %arg0)
  %2 = "ttnn.matmul"(%1, %x) <{transpose_a = false, transpose_b = false}> : (tensor<32x32xbf16, #l>, tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>
  // A constant is stored in the format.
  // CHECK-NEXT: %[[C:.*]] = "ttnn.constant"{{.*}} -> tensor<32x32xbf16, #[[$W]]>
  %c = "ttnn.constant"(%dev) <{value = dense<1.0> : tensor<32x32xbf16>}> : (!ttnn.device) -> tensor<32x32xbf16, #l>
  // CHECK-NEXT: "ttnn.matmul"(%{{.*}}, %[[C]])
  %3 = "ttnn.matmul"(%2, %c) <{transpose_a = false, transpose_b = false}> : (tensor<32x32xbf16, #l>, tensor<32x32xbf16, #l>) -> tensor<32x32xbf16, #l>
  return %3 : tensor<32x32xbf16, #l>
}
