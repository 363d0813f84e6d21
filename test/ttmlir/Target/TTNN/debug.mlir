// RUN: mkdir -p %t.d
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | ttmlir-translate --ttnn-to-flatbuffer -o %t.d/debug.ttnn
// RUN: flatc --json --strict-json --raw-binary --size-prefixed -o %t.d %root/include/ttmlir/Target/TTNN/binary.fbs -- %t.d/debug.ttnn
// RUN: FileCheck %s < %t.d/debug.json

// CHECK: "name": "debug.annotate"
// CHECK: "name": "annotation"
// CHECK: "value": "stage"
// CHECK: "name": "debug.memory_snapshot"
// CHECK: "value": "memory.json"
// CHECK: "name": "debug.breakpoint"
func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %0 = "debug.annotate"(%x) <{annotation = "stage"}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
  "debug.memory_snapshot"(%0) <{file_path = "memory.json"}> : (tensor<32x32xf32>) -> ()
  "debug.breakpoint"(%0) : (tensor<32x32xf32>) -> ()
  return %0 : tensor<32x32xf32>
}
