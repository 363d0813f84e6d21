// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn --ttnn-fusing | FileCheck %s --check-prefix=PLAIN

// CHECK-LABEL: @rope
// CHECK: "ttnn.rotary_embedding"(%arg0, %arg1, %arg2)
// CHECK-NOT: "ttnn.concat"
// PLAIN-LABEL: @rope
// PLAIN: "ttnn.concat"
func.func @rope(%x: tensor<1x4x8x16xbf16>, %cos: tensor<1x1x8x16xbf16>, %sin: tensor<1x1x8x16xbf16>) -> tensor<1x4x8x16xbf16> {
  %0 = "ttir.multiply"(%x, %cos) : (tensor<1x4x8x16xbf16>, tensor<1x1x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  %1 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 8 : i32, 8 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x4x8x16xbf16>) -> tensor<1x4x8x8xbf16>
  %2 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 8 : i32], ends = [1 : i32, 4 : i32, 8 : i32, 16 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x4x8x16xbf16>) -> tensor<1x4x8x8xbf16>
  %3 = "ttir.neg"(%2) : (tensor<1x4x8x8xbf16>) -> tensor<1x4x8x8xbf16>
  %4 = "ttir.concat"(%3, %1) <{dim = -1 : si32}> : (tensor<1x4x8x8xbf16>, tensor<1x4x8x8xbf16>) -> tensor<1x4x8x16xbf16>
  %5 = "ttir.multiply"(%4, %sin) : (tensor<1x4x8x16xbf16>, tensor<1x1x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  %6 = "ttir.add"(%0, %5) : (tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  return %6 : tensor<1x4x8x16xbf16>
}

// The halves in their own order, and angles of each head.
// CHECK-LABEL: @none
// CHECK-NOT: rotary
func.func @none(%x: tensor<1x4x8x16xbf16>, %cos: tensor<1x1x8x16xbf16>, %heads: tensor<1x4x8x16xbf16>) -> (tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>) {
  %0 = "ttir.multiply"(%x, %cos) : (tensor<1x4x8x16xbf16>, tensor<1x1x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  %1 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 8 : i32, 8 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x4x8x16xbf16>) -> tensor<1x4x8x8xbf16>
  %2 = "ttir.slice_static"(%x) <{begins = [0 : i32, 0 : i32, 0 : i32, 8 : i32], ends = [1 : i32, 4 : i32, 8 : i32, 16 : i32], step = [1 : i32, 1 : i32, 1 : i32, 1 : i32]}> : (tensor<1x4x8x16xbf16>) -> tensor<1x4x8x8xbf16>
  %3 = "ttir.neg"(%1) : (tensor<1x4x8x8xbf16>) -> tensor<1x4x8x8xbf16>
  %4 = "ttir.concat"(%3, %2) <{dim = -1 : si32}> : (tensor<1x4x8x8xbf16>, tensor<1x4x8x8xbf16>) -> tensor<1x4x8x16xbf16>
  %5 = "ttir.multiply"(%4, %cos) : (tensor<1x4x8x16xbf16>, tensor<1x1x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  %6 = "ttir.add"(%0, %5) : (tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  %7 = "ttir.neg"(%2) : (tensor<1x4x8x8xbf16>) -> tensor<1x4x8x8xbf16>
  %8 = "ttir.concat"(%7, %1) <{dim = 3 : si32}> : (tensor<1x4x8x8xbf16>, tensor<1x4x8x8xbf16>) -> tensor<1x4x8x16xbf16>
  %9 = "ttir.multiply"(%8, %heads) : (tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  %10 = "ttir.add"(%9, %0) : (tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>) -> tensor<1x4x8x16xbf16>
  return %6, %10 : tensor<1x4x8x16xbf16>, tensor<1x4x8x16xbf16>
}
