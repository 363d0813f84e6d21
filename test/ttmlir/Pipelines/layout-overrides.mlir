// SPDX-License-Identifier: Apache-2.0
// A convolution has the location of the tanh that was fused into it. So has the reshape behind it, which leaves the program.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="override-output-layout=tanh_a=8x1:height_sharded override-conv2d-config=tanh_a=act_block_h_override#32:enable_act_double_buffer#true" | FileCheck %s
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=conv_a=act_block_h_override#32 2>&1 | FileCheck %s --check-prefix=FUSED
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=no_field#32 2>&1 | FileCheck %s --check-prefix=FIELD
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=activation#relu 2>&1 | FileCheck %s --check-prefix=ACTIVATION
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=act_block_h_override#-4 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: 'ttnn.conv2d' op option override-conv2d-config: expected an integer of at least 0
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=act_block_w_div#0 2>&1 | FileCheck %s --check-prefix=DIVISOR
// DIVISOR: 'ttnn.conv2d' op option override-conv2d-config: act_block_w_div is 0; expected a divisor of at least 1
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=weights_dtype#f32 2>&1 | FileCheck %s --check-prefix=WEIGHTS
// WEIGHTS: 'ttnn.conv2d' op option override-conv2d-config: weights_dtype is f32, and the weights are bf16
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=output_layout#row_major 2>&1 | FileCheck %s --check-prefix=ORDER
// ORDER: 'ttnn.conv2d' op option override-conv2d-config: output_layout is row_major, and the result is tile
// What the op has already is no contradiction.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-conv2d-config=tanh_a=weights_dtype#bf16:output_layout#tile | FileCheck %s --check-prefix=SAME
// SAME: "ttnn.conv2d"{{.*}}weights_dtype = bf16{{.*}}output_layout = tile
// FUSED: option override-conv2d-config names 'conv_a', which is no conv2d or conv_transpose2d; one that others were fused into has the name of the last of them
// FIELD: 'ttnn.conv2d' op option override-conv2d-config: {{.*}}no_field
// ACTIVATION: 'ttnn.conv2d' op option override-conv2d-config: activation is fused from the program, and not chosen here
// CHECK-DAG: #[[$SHARDS:.*]] = #ttnn.ttnn_layout<{{.*}}, <8x1>, memref<8x2x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>
// CHECK-LABEL: func.func @main
func.func @main(%x: tensor<2x32x32x64xbf16>, %w: tensor<64x64x3x3xbf16>) -> tensor<2x32x32x64xbf16> {
  // CHECK: "ttnn.conv2d"{{.*}}act_block_h_override = 32{{.*}}enable_act_double_buffer = true{{.*}} -> tensor<1x1x2048x64xbf16, #[[$SHARDS]]>
  // CHECK: "ttnn.reshape"{{.*}} -> tensor<2x32x32x64xbf16, #[[DRAM:.*]]>
  %0 = "ttir.conv2d"(%x, %w) <{batch_dim = 0 : i64, channel_dim = 3 : i64, dilation = array<i32: 1, 1>, groups = 1 : i32, height_dim = 1 : i64, padding = array<i32: 1, 1>, stride = array<i32: 1, 1>, width_dim = 2 : i64}> : (tensor<2x32x32x64xbf16>, tensor<64x64x3x3xbf16>) -> tensor<2x32x32x64xbf16> loc("conv_a")
  %1 = "ttir.tanh"(%0) : (tensor<2x32x32x64xbf16>) -> tensor<2x32x32x64xbf16> loc("tanh_a")
  return %1 : tensor<2x32x32x64xbf16> loc("end")
}
// Several results of one op.
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=override-output-layout=best=l1 2>&1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: 'ttnn.topk' op option override-output-layout: the op has 2 results; expected one
func.func @best_of(%x: tensor<64x64xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xi32>) {
  %0, %1 = "ttir.topk"(%x) <{k = 32 : i32}> : (tensor<64x64xbf16>) -> (tensor<64x32xbf16>, tensor<64x32xi32>) loc("best")
  %2 = "ttir.exp"(%0) : (tensor<64x32xbf16>) -> tensor<64x32xbf16>
  %3 = "ttir.abs"(%1) : (tensor<64x32xi32>) -> tensor<64x32xi32>
  return %2, %3 : tensor<64x32xbf16>, tensor<64x32xi32>
}
