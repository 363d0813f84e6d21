// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

func.func @eltwise(%a: tensor<10x36xbf16>, %b: tensor<10x36xbf16>, %row: tensor<1x36xbf16>) -> tensor<10x36xbf16> {
  // CHECK: ttir.add
  %0 = "ttir.add"(%a, %row) : (tensor<10x36xbf16>, tensor<1x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.subtract
  %1 = "ttir.subtract"(%0, %b) : (tensor<10x36xbf16>, tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.multiply
  %2 = "ttir.multiply"(%1, %b) : (tensor<10x36xbf16>, tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.div
  %3 = "ttir.div"(%2, %a) : (tensor<10x36xbf16>, tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.maximum
  %4 = "ttir.maximum"(%3, %row) : (tensor<10x36xbf16>, tensor<1x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.pow
  %5 = "ttir.pow"(%4, %b) : (tensor<10x36xbf16>, tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.sigmoid
  %6 = "ttir.sigmoid"(%5) : (tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.gelu
  %7 = "ttir.gelu"(%6) : (tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: ttir.rsqrt
  %8 = "ttir.rsqrt"(%7) : (tensor<10x36xbf16>) -> tensor<10x36xbf16>
  // CHECK: "ttir.leaky_relu"{{.*}} <{parameter = 1.250000e-01 : f32}>
  %9 = "ttir.leaky_relu"(%8) <{parameter = 1.250000e-01 : f32}> : (tensor<10x36xbf16>) -> tensor<10x36xbf16>
  return %9 : tensor<10x36xbf16>
}
