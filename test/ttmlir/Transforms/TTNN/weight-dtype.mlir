// RUN: ttmlir-opt %s --ttnn-weight-dtype-conversion=target-dtype=bfp_bf8 | FileCheck %s
// RUN: ttmlir-opt %s --ttnn-weight-dtype-conversion | FileCheck %s --check-prefix=NONE

// NONE-NOT: bfp_bf8

#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>

// CHECK: #[[$W:.*]] = {{.*}}memref<1x1x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
// CHECK: #[[$B:.*]] = {{.*}}memref<1024x1x!ttcore.tile<32x32, bfp_bf8>, #system_memory>>
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

#image = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 * 32 + d2, d3), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
#rows = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 32 + d1 + d2, d3), <1x1>, memref<1024x1xf32, #ttnn.buffer_type<system_memory>>>

// A convolution's weight in rows of the host becomes tiles there.
// CHECK-LABEL: func.func @conv
// CHECK-NEXT: %[[TILES:.*]] = "ttnn.to_layout"(%arg1) : {{.*}} -> tensor<32x32x1x1xbf16, #[[$B]]>
// CHECK-NEXT: "ttnn.conv2d"(%arg0, %[[TILES]], %arg2)
func.func @conv(%x: tensor<1x1x16x32xf32, #image>, %w: tensor<32x32x1x1xf32, #rows>, %dev: !ttnn.device) -> tensor<1x1x16x32xf32, #image> {
  %0 = "ttnn.conv2d"(%x, %w, %dev) <{batch_size = 1 : i32, dilation = array<i32: 1, 1>, groups = 1 : i32, in_channels = 32 : i32, input_height = 4 : i32, input_width = 4 : i32, kernel_size = array<i32: 1, 1>, out_channels = 32 : i32, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 1, 1>}> : (tensor<1x1x16x32xf32, #image>, tensor<32x32x1x1xf32, #rows>, !ttnn.device) -> tensor<1x1x16x32xf32, #image>
  return %0 : tensor<1x1x16x32xf32, #image>
}
