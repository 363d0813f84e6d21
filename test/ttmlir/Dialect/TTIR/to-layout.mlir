// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#m = #ttcore.metal_layout<logical_shape = 64x128, dim_alignments = 32x32, collapsed_intervals = dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>, l1, sharded>
func.func @layout(%x: tensor<64x128xf32>) -> tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #m> {
  // CHECK: ttir.empty
  %e = ttir.empty() : tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #m>
  // CHECK: ttir.to_layout
  %0 = ttir.to_layout %x, %e : tensor<64x128xf32> into tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #m> hostInfo = #m -> tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #m>
  return %0 : tensor<2x2x1x2x!ttcore.tile<32x32, f32>, #m>
}
