// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --ttcore-register-device --ttnn-greedy-memory-layout-propagation | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --ttcore-register-device --ttnn-greedy-memory-layout-propagation --ttnn-greedy-l1-spill-management --ttnn-operation-validation-and-fallback | FileCheck %s --check-prefix=FITS
// RUN: ttmlir-opt %s --split-input-file --ttcore-register-device --ttnn-greedy-memory-layout-propagation=enable-l1-sharding-layouts=false | FileCheck %s --check-prefix=WHOLE
//
// Without a system there is no chip to choose for.
// RUN: not ttmlir-opt %s --split-input-file --ttnn-greedy-memory-layout-propagation 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: layouts are chosen for a chip, but the module has no ttcore.system_desc; run ttcore-register-device first

// What lies between ops lies in L1, on the cores that compute it; what comes and goes, in DRAM.
// CHECK-DAG: #[[$DRAM:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x64x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
// CHECK-DAG: #[[$SHARDS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <64x1>, memref<1x64x!ttcore.tile<32x32, bf16>, #l1>, <height_sharded>
// CHECK-LABEL: func.func @chain
// WHOLE-DAG: #[[$WHOLE:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x64x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>
// WHOLE-LABEL: func.func @chain
// WHOLE: "ttnn.exp"(%{{.*}}) : {{.*}} -> tensor<2048x2048xbf16, #[[$WHOLE]]>
#dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x64x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @chain(%x: tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram> {
  // CHECK: "ttnn.exp"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$DRAM]]>) -> tensor<2048x2048xbf16, #[[$SHARDS]]>
  // CHECK: "ttnn.add"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$SHARDS]]>, tensor<2048x2048xbf16, #[[$SHARDS]]>) -> tensor<2048x2048xbf16, #[[$SHARDS]]>
  // CHECK: "ttnn.multiply"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$SHARDS]]>, tensor<2048x2048xbf16, #[[$SHARDS]]>) -> tensor<2048x2048xbf16, #[[$SHARDS]]>
  // CHECK: "ttnn.subtract"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$SHARDS]]>, tensor<2048x2048xbf16, #[[$SHARDS]]>) -> tensor<2048x2048xbf16, #[[$SHARDS]]>
  // CHECK: "ttnn.add"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$SHARDS]]>, tensor<2048x2048xbf16, #[[$SHARDS]]>) -> tensor<2048x2048xbf16, #[[$SHARDS]]>
  // CHECK: "ttnn.multiply"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$SHARDS]]>, tensor<2048x2048xbf16, #[[$SHARDS]]>) -> tensor<2048x2048xbf16, #[[$SHARDS]]>
  // CHECK: %[[MOVED:.*]] = "ttnn.to_memory_config"(%{{.*}}) : (tensor<2048x2048xbf16, #[[$SHARDS]]>)
  // CHECK: "ttnn.exp"(%[[MOVED]]) : {{.*}} -> tensor<2048x2048xbf16, #[[$DRAM]]>
  %0 = "ttnn.exp"(%x) : (tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  %1 = "ttnn.add"(%0, %0) : (tensor<2048x2048xbf16, #dram>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  %2 = "ttnn.multiply"(%1, %0) : (tensor<2048x2048xbf16, #dram>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  %3 = "ttnn.subtract"(%2, %1) : (tensor<2048x2048xbf16, #dram>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  %4 = "ttnn.add"(%3, %2) : (tensor<2048x2048xbf16, #dram>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  %5 = "ttnn.multiply"(%4, %3) : (tensor<2048x2048xbf16, #dram>, tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  %6 = "ttnn.exp"(%5) : (tensor<2048x2048xbf16, #dram>) -> tensor<2048x2048xbf16, #dram>
  return %6 : tensor<2048x2048xbf16, #dram>
}

// -----

// Two that do not fit together: the one that is needed again last goes back.
// FITS-LABEL: func.func @too_much
#dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<128x128x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @too_much(%x: tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #dram> {
  // FITS: "ttnn.exp"(%{{.*}}) : {{.*}} -> tensor<4096x4096xf32, #[[DRAM:.*]]>
  // FITS: "ttnn.tanh"(%{{.*}}) : (tensor<4096x4096xf32, #[[DRAM]]>) -> tensor<4096x4096xf32, #[[L1:.*]]>
  // FITS: "ttnn.neg"(%{{.*}}) : (tensor<4096x4096xf32, #[[L1]]>) -> tensor<4096x4096xf32, #[[DRAM]]>
  %0 = "ttnn.exp"(%x) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #dram>
  %1 = "ttnn.tanh"(%x) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #dram>
  %2 = "ttnn.neg"(%1) : (tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #dram>
  %3 = "ttnn.add"(%2, %0) : (tensor<4096x4096xf32, #dram>, tensor<4096x4096xf32, #dram>) -> tensor<4096x4096xf32, #dram>
  return %3 : tensor<4096x4096xf32, #dram>
}
