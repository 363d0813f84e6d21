// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#a = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<3x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#r3 = #ttnn.ttnn_layout<(d0, d1, d2) -> (d0 * 32 + d1, d2), <1x1>, memref<2x3x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#c = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x6x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
func.func @f(%x: tensor<64x96xbf16, #a>) -> tensor<64x96xbf16, #a> {
  // CHECK: "ttnn.reshape"{{.*}} <{shape = [2 : i32, 32 : i32, 96 : i32]}>
  %0 = "ttnn.reshape"(%x) <{shape = [2 : i32, 32 : i32, 96 : i32]}> : (tensor<64x96xbf16, #a>) -> tensor<2x32x96xbf16, #r3>
  // CHECK: "ttnn.transpose"{{.*}} <{dim0 = 0 : si32, dim1 = 1 : si32}>
  %1 = "ttnn.transpose"(%x) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<64x96xbf16, #a>) -> tensor<96x64xbf16, #t>
  // CHECK: "ttnn.permute"{{.*}} <{permutation = array<i64: 1, 0>}>
  %2 = "ttnn.permute"(%1) <{permutation = array<i64: 1, 0>}> : (tensor<96x64xbf16, #t>) -> tensor<64x96xbf16, #a>
  // CHECK: "ttnn.concat"{{.*}} <{dim = 1 : si32}>
  %3 = "ttnn.concat"(%x, %2) <{dim = 1 : si32}> : (tensor<64x96xbf16, #a>, tensor<64x96xbf16, #a>) -> tensor<64x192xbf16, #c>
  // CHECK: "ttnn.slice_static"{{.*}} <{begins = [0 : i32, 96 : i32], ends = [64 : i32, 192 : i32], step = [1 : i32, 1 : i32]}>
  %4 = "ttnn.slice_static"(%3) <{begins = [0 : i32, 96 : i32], ends = [64 : i32, 192 : i32], step = [1 : i32, 1 : i32]}> : (tensor<64x192xbf16, #c>) -> tensor<64x96xbf16, #a>
  // CHECK: "ttnn.repeat"{{.*}} <{repeat_dims = #ttnn.shape<1x2>}>
  %5 = "ttnn.repeat"(%x) <{repeat_dims = #ttnn.shape<1x2>}> : (tensor<64x96xbf16, #a>) -> tensor<64x192xbf16, #c>
  return %4 : tensor<64x96xbf16, #a>
}
