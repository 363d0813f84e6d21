// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-operation-validation-and-fallback | FileCheck %s
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-operation-validation-and-fallback=max-fallback-attempts=0 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: 'ttnn.exp' op result 0 has 2x1 shards; there is room for 1x1; max-fallback-attempts, 0, is used up
#dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
#l1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<l1>>, <height_sharded>>
// CHECK: #[[$DRAM:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
// CHECK-NOT: height_sharded
// CHECK-LABEL: func.func @shards
func.func @shards(%x: tensor<64x64xf32, #dram>) -> tensor<64x64xf32, #dram> {
  // CHECK: "ttnn.exp"(%{{.*}}) : (tensor<64x64xf32, #[[$DRAM]]>) -> tensor<64x64xf32, #[[$DRAM]]>
  %0 = "ttnn.exp"(%x) : (tensor<64x64xf32, #dram>) -> tensor<64x64xf32, #l1>
  %1 = "ttnn.neg"(%0) : (tensor<64x64xf32, #l1>) -> tensor<64x64xf32, #dram>
  return %1 : tensor<64x64xf32, #dram>
}
