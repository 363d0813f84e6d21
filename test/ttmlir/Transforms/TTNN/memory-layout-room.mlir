// SPDX-License-Identifier: Apache-2.0
// Layouts that somebody asks for, and that L1 has no room for.
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=alone=8x8:l1:block_sharded 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: 'ttnn.exp' op option override-output-layout: the result needs 2097152 bytes of each core; tensors may have 1325652
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=alone=l1 tensor-l1-usage-cap=0.5" 2>&1 | FileCheck %s --check-prefix=SHARE
// SHARE: 'ttnn.exp' op option override-output-layout: the result needs 2097152 bytes of each core; tensors may have 697712
#dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<256x256x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @alone(%x: tensor<8192x8192xbf16, #dram>) -> tensor<8192x8192xbf16, #dram> {
  %0 = "ttnn.exp"(%x) : (tensor<8192x8192xbf16, #dram>) -> tensor<8192x8192xbf16, #dram> loc("alone")
  %1 = "ttnn.sin"(%0) : (tensor<8192x8192xbf16, #dram>) -> tensor<8192x8192xbf16, #dram>
  return %1 : tensor<8192x8192xbf16, #dram>
}

// Each has room, and not both: the one that is needed again last goes back, with a warning. Nothing is said of what nobody
// requested.
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=first=l1,second=l1 --ttnn-greedy-l1-spill-management=override-output-layout=first=l1,second=l1 -o %t 2>&1 | FileCheck %s --check-prefix=BOTH --implicit-check-not=warning
// BOTH: warning: {{.*}}option override-output-layout: the result cannot stay in L1, and goes back to DRAM: op 1 (ttnn.tanh) needs 1048576 bytes of each core for its result
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=first=l1,second=l1 --ttnn-greedy-l1-spill-management=override-output-layout=second=l1 2>&1 | FileCheck %s --check-prefix=OTHER --implicit-check-not=warning
// OTHER: func.func @both
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=insert-memreconfig=alone=0 --ttnn-greedy-l1-spill-management=insert-memreconfig=alone=0 -o %t 2>&1 | FileCheck %s --check-prefix=MOVE
// MOVE: warning: {{.*}}option insert-memreconfig: the result cannot stay in L1, and goes back to DRAM: op 0 (ttnn.to_memory_config) needs 2097152 bytes of each core
#square = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<128x128x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @both(%x: tensor<4096x4096xf32, #square>) -> tensor<4096x4096xf32, #square> {
  %0 = "ttnn.exp"(%x) : (tensor<4096x4096xf32, #square>) -> tensor<4096x4096xf32, #square> loc("first")
  %1 = "ttnn.tanh"(%x) : (tensor<4096x4096xf32, #square>) -> tensor<4096x4096xf32, #square> loc("second")
  %2 = "ttnn.neg"(%1) : (tensor<4096x4096xf32, #square>) -> tensor<4096x4096xf32, #square>
  %3 = "ttnn.add"(%2, %0) : (tensor<4096x4096xf32, #square>, tensor<4096x4096xf32, #square>) -> tensor<4096x4096xf32, #square>
  return %3 : tensor<4096x4096xf32, #square>
}

// Shards that the last pass takes back.
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-operation-validation-and-fallback=override-output-layout=sharded=1x1:l1:height_sharded -o %t 2>&1 | FileCheck %s --check-prefix=FALLBACK
// FALLBACK: warning: {{.*}}option override-output-layout: the result cannot stay in L1, and goes back to DRAM: result 0 has 2x1 shards; there is room for 1x1
#small = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x2x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
#shards = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<l1>>, <height_sharded>>
func.func @sharded(%x: tensor<64x64xf32, #small>) -> tensor<64x64xf32, #small> {
  %0 = "ttnn.exp"(%x) : (tensor<64x64xf32, #small>) -> tensor<64x64xf32, #shards> loc("sharded")
  %1 = "ttnn.neg"(%0) : (tensor<64x64xf32, #shards>) -> tensor<64x64xf32, #small>
  return %1 : tensor<64x64xf32, #small>
}
