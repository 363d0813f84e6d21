// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @select(%a: tensor<4x15xf32>, %b: tensor<4x15xf32>) -> tensor<4x15xf32> {
  // CHECK: ttir.ge
  %m = "ttir.ge"(%a, %b) : (tensor<4x15xf32>, tensor<4x15xf32>) -> tensor<4x15xi1>
  // CHECK: ttir.logical_not
  %n = "ttir.logical_not"(%m) : (tensor<4x15xi1>) -> tensor<4x15xi1>
  // CHECK: ttir.where
  %w = "ttir.where"(%n, %a, %b) : (tensor<4x15xi1>, tensor<4x15xf32>, tensor<4x15xf32>) -> tensor<4x15xf32>
  // CHECK: "ttir.clamp_scalar"{{.*}} <{max = 6.000000e+00 : f32, min = -1.500000e+00 : f32}>
  %c = "ttir.clamp_scalar"(%w) <{max = 6.000000e+00 : f32, min = -1.500000e+00 : f32}> : (tensor<4x15xf32>) -> tensor<4x15xf32>
  // CHECK: ttir.clamp_tensor
  %d = "ttir.clamp_tensor"(%c, %a, %b) : (tensor<4x15xf32>, tensor<4x15xf32>, tensor<4x15xf32>) -> tensor<4x15xf32>
  return %d : tensor<4x15xf32>
}
func.func @clamp_int(%a: tensor<9xi32>) -> tensor<9xi32> {
  // CHECK: "ttir.clamp_scalar"{{.*}} <{max = 12 : i32, min = 3 : i32}>
  %c = "ttir.clamp_scalar"(%a) <{max = 12 : i32, min = 3 : i32}> : (tensor<9xi32>) -> tensor<9xi32>
  return %c : tensor<9xi32>
}
