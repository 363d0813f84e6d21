// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: not ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=REFUSED

// Read and written, and refused by name where it would have to run.
// REFUSED: 'ttir.moe_gpt' is not lowered to TTNN: what its records of tokens hold is described in ways that contradict each other
func.func @moe_gpt(%x: tensor<32x64xbf16>, %which: tensor<32x4xui16>, %scores: tensor<32x4xbf16>, %where: tensor<1x1x8x1xui16>, %w: tensor<8x64x256xbf16>, %v: tensor<8x128x64xbf16>) -> tensor<32x64xbf16> {
  // CHECK: "ttir.moe_gpt"{{.*}}hidden_size = 2880 : ui32, output_height_shard_dim = 4 : ui32, output_width_shard_dim = 3 : ui32
  %0:5 = "ttir.moe_gpt"(%x, %which, %scores, %where, %w, %v) : (tensor<32x64xbf16>, tensor<32x4xui16>, tensor<32x4xbf16>, tensor<1x1x8x1xui16>, tensor<8x64x256xbf16>, tensor<8x128x64xbf16>) -> (tensor<8xui32>, tensor<32x4xui32>, tensor<32x4xui32>, tensor<32x64xbf16>, tensor<32x64xbf16>)
  return %0#4 : tensor<32x64xbf16>
}
// -----
// REFUSED: 'ttir.selective_reduce_combine' is not lowered to TTNN
func.func @selective_reduce_combine(%x: tensor<32x64xbf16>, %records: tensor<32x4xui32>) -> tensor<4x32x64xbf16> {
  // CHECK: "ttir.selective_reduce_combine"
  %0 = "ttir.selective_reduce_combine"(%x, %records, %records, %records) <{hidden_size = 64 : ui32, batch_size = 32 : ui32, seq_size = 1 : ui32, select_experts_k = 4 : ui32, experts = 8 : ui32}> : (tensor<32x64xbf16>, tensor<32x4xui32>, tensor<32x4xui32>, tensor<32x4xui32>) -> tensor<4x32x64xbf16>
  return %0 : tensor<4x32x64xbf16>
}
