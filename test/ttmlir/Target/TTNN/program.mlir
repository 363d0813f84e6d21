// RUN: mkdir -p %t.d
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --mlir-print-debuginfo -o %t.mlir
// RUN: ttmlir-translate %t.mlir --ttnn-to-flatbuffer -o %t.d/program.ttnn
// RUN: flatc --json --strict-json --defaults-json --raw-binary --size-prefixed -o %t.d %root/include/ttmlir/Target/TTNN/binary.fbs -- %t.d/program.ttnn
// RUN: FileCheck %s < %t.d/program.json
// RUN: ttmlir-opt %t.mlir --ttcore-wrap-device-module --mlir-print-debuginfo | ttmlir-translate --ttnn-to-flatbuffer -o %t.wrapped.ttnn

// CHECK: "schema_version": 3
// CHECK: "arch": "WormholeB0"
// CHECK: "mesh_shape": [
// CHECK-NEXT: 1,
// CHECK-NEXT: 1
// CHECK: "tensor_descs": [
// CHECK: "data_type": "Float32"
// CHECK-NEXT: "layout": "Tile"
// CHECK-NEXT: "buffer_type": "DRAM"
// CHECK-NEXT: "memory_layout": "Interleaved"
// CHECK: "name": "main"
// CHECK: "name": "image"
// CHECK: "inputs": [
// CHECK-NEXT: 0,
// CHECK-NEXT: 1
// A constant is stored in the format of the result: 1 and 2 as f32, then 3 as si32.
// CHECK: "name": "ttnn.constant"
// CHECK: "value_type": "ConstantValue"
// CHECK: "source": "0"
// CHECK: "debug": "%{{.*}} = \"ttnn.constant\"
// CHECK: "name": "ttnn.add"
// CHECK-NEXT: "ins": [
// CHECK: "source": "2"
// CHECK: "name": "ttnn.deallocate"
// CHECK: "source": ""
// An inlined op has the path of its calls.
// CHECK: "name": "ttnn.exp"
// CHECK: "loc": "loc(callsite(
// CHECK: "source": "4/6"
// CHECK: "is_private": false
// CHECK: "constants": [
// CHECK: "data": [
// CHECK-NEXT: 0,
// CHECK-NEXT: 0,
// CHECK-NEXT: 128,
// CHECK-NEXT: 63,
// CHECK: "data": [
// CHECK-NEXT: 3,
// CHECK-NEXT: 0,
// CHECK-NEXT: 0,
// CHECK-NEXT: 0,
// CHECK-NEXT: 255,
// CHECK-NEXT: 255,
// CHECK-NEXT: 255,
// CHECK-NEXT: 255
// CHECK-NOT: "data"
// CHECK: "mlir": "
func.func @main(%image: tensor<2xf32> {ttir.name = "image"}, %b: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi64>, tensor<2xf32>) {
  %0 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %1 = "ttir.constant"() <{value = dense<[3, -1]> : tensor<2xi64>}> : () -> tensor<2xi64>
  %2 = "ttir.add"(%image, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %3 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  %4 = call @inner(%2) : (tensor<2xf32>) -> tensor<2xf32>
  %5 = "ttir.multiply"(%4, %3) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %5, %1, %b : tensor<2xf32>, tensor<2xi64>, tensor<2xf32>
}
func.func private @inner(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "ttir.exp"(%x) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
