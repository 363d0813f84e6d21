// A flatbuffer is no module to read; it may be written over.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | ttmlir-translate --ttnn-to-flatbuffer -o %t.ttnn
// RUN: not ttmlir-opt %t.ttnn 2>&1 | FileCheck %s
// RUN: ttmlir-opt %s -o %t.ttnn

// CHECK: read-back.mlir.tmp.ttnn: is a flatbuffer, not a module; `ttrt read --section mlir` prints the one it was made of

func.func @f(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
