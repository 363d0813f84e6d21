// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @shapes(%x: tensor<4x6x10xbf16>) -> tensor<10x48xbf16> {
  // CHECK: "ttir.reshape"{{.*}} <{shape = [24 : i32, 10 : i32]}>
  %0 = "ttir.reshape"(%x) <{shape = [24 : i32, 10 : i32]}> : (tensor<4x6x10xbf16>) -> tensor<24x10xbf16>
  // CHECK: "ttir.transpose"{{.*}} <{dim0 = 0 : si32, dim1 = 1 : si32}>
  %1 = "ttir.transpose"(%0) <{dim0 = 0 : si32, dim1 = 1 : si32}> : (tensor<24x10xbf16>) -> tensor<10x24xbf16>
  // CHECK: "ttir.concat"{{.*}} <{dim = 1 : si32}>
  %2 = "ttir.concat"(%1, %1) <{dim = 1 : si32}> : (tensor<10x24xbf16>, tensor<10x24xbf16>) -> tensor<10x48xbf16>
  return %2 : tensor<10x48xbf16>
}
func.func @more(%x: tensor<2x5x7xf32>) -> tensor<9x4x3xf32> {
  // CHECK: "ttir.permute"{{.*}} <{permutation = array<i64: 2, 0, 1>}>
  %0 = "ttir.permute"(%x) <{permutation = array<i64: 2, 0, 1>}> : (tensor<2x5x7xf32>) -> tensor<7x2x5xf32>
  // CHECK: "ttir.slice_static"{{.*}} <{begins = [0 : i32, 0 : i32, 1 : i32], ends = [7 : i32, 2 : i32, 5 : i32], step = [2 : i32, 1 : i32, 2 : i32]}>
  %1 = "ttir.slice_static"(%0) <{begins = [0 : i32, 0 : i32, 1 : i32], ends = [7 : i32, 2 : i32, 5 : i32], step = [2 : i32, 1 : i32, 2 : i32]}> : (tensor<7x2x5xf32>) -> tensor<4x2x2xf32>
  // CHECK: "ttir.pad"{{.*}} <{padding = array<i32: 2, 3, 1, 1, 0, 1>, value = 5.000000e-01 : f32}>
  %2 = "ttir.pad"(%1) <{padding = array<i32: 2, 3, 1, 1, 0, 1>, value = 5.000000e-01 : f32}> : (tensor<4x2x2xf32>) -> tensor<9x4x3xf32>
  return %2 : tensor<9x4x3xf32>
}
func.func @rearrange(%x: tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32> {
  // CHECK: "ttir.rearrange"{{.*}} <{pattern = "b h w c -> b (h w) c"}>
  %0 = "ttir.rearrange"(%x) <{pattern = "b h w c -> b (h w) c"}> : (tensor<2x3x5x7xf32>) -> tensor<2x15x7xf32>
  return %0 : tensor<2x15x7xf32>
}
func.func @expand(%x: tensor<1x8xf32>) -> tensor<1x6x24xf32> {
  // CHECK: "ttir.broadcast"{{.*}} <{broadcast_dimensions = array<i64: 3, 1>}>
  %0 = "ttir.broadcast"(%x) <{broadcast_dimensions = array<i64: 3, 1>}> : (tensor<1x8xf32>) -> tensor<3x8xf32>
  // CHECK: "ttir.repeat"{{.*}} <{repeat_dimensions = array<i64: 1, 3>}>
  %1 = "ttir.repeat"(%0) <{repeat_dimensions = array<i64: 1, 3>}> : (tensor<3x8xf32>) -> tensor<3x24xf32>
  // CHECK: "ttir.repeat_interleave"{{.*}} <{dim = 0 : si32, repeats = 2 : ui32}>
  %2 = "ttir.repeat_interleave"(%1) <{dim = 0 : si32, repeats = 2 : ui32}> : (tensor<3x24xf32>) -> tensor<6x24xf32>
  // CHECK: "ttir.unsqueeze"{{.*}} <{dim = 0 : si32}>
  %3 = "ttir.unsqueeze"(%2) <{dim = 0 : si32}> : (tensor<6x24xf32>) -> tensor<1x6x24xf32>
  // CHECK: "ttir.squeeze"{{.*}} <{dim = 0 : si32}>
  %4 = "ttir.squeeze"(%3) <{dim = 0 : si32}> : (tensor<1x6x24xf32>) -> tensor<6x24xf32>
  // CHECK: "ttir.reverse"{{.*}} <{dimensions = array<i64: 2>}>
  %5 = "ttir.reverse"(%3) <{dimensions = array<i64: 2>}> : (tensor<1x6x24xf32>) -> tensor<1x6x24xf32>
  return %5 : tensor<1x6x24xf32>
}
