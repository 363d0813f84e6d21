// RUN: mkdir -p %t.d
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=true argument-types=main=input,parameter" --mlir-print-debuginfo | ttmlir-translate --ttnn-to-flatbuffer -o %t.d/const.ttnn
// RUN: flatc --json --strict-json --defaults-json --raw-binary --size-prefixed -o %t.d %root/include/ttmlir/Target/TTNN/binary.fbs -- %t.d/const.ttnn
// RUN: FileCheck %s < %t.d/const.json

// The op that loads knows the program that evaluates by its place.
// CHECK: "name": "main"
// CHECK: "name": "ttcore.load_cached"
// CHECK: "name": "callee"
// CHECK-NEXT: "value_type": "IntValue"
// CHECK-NEXT: "value": {
// CHECK-NEXT: "value": 1
// CHECK: "name": "ttnn.matmul"
// CHECK-NOT: "ttnn.deallocate"
// CHECK: "is_private": false
// CHECK: "name": "main_const_eval_0"
// CHECK: "name": "ttnn.abs"
// CHECK: "source": "0"
// CHECK: "is_private": true
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "ttir.abs"(%w) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.matmul"(%x, %0) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  return %1 : tensor<32x32xf32>
}
