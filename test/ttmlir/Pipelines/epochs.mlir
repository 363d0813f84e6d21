// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=false" | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=false" | ttmlir-translate --ttnn-to-flatbuffer -o %t.ttnn
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-const-eval=false" --ttnn-common-to-emitpy-pipeline | FileCheck %s --check-prefix=PYTHON

// RUN: mkdir -p %t.d
// RUN: flatc --json --strict-json --raw-binary --size-prefixed -o %t.d %root/include/ttmlir/Target/TTNN/binary.fbs -- %t.ttnn
// RUN: FileCheck %s --check-prefix=FILE < %t.d/epochs.mlir.tmp.json

// PYTHON-NOT: ttcore.epoch

// FILE: "name": "ttnn.relu"
// FILE: "name": "ttcore.epoch"
// FILE-NEXT: "value_type": "IntValue"
// FILE-NEXT: "value": {
// FILE-NEXT: "value": 1
// FILE: "name": "ttnn.gelu"
// FILE-NOT: "ttcore.fusion_group"

// TTNN ops have the epochs, and an activation of the next epoch is an op of its own; equal ops of two epochs are two.
// CHECK-LABEL: @main
// CHECK: "ttnn.matmul"{{.*}}activation = "relu"{{.*}}{ttcore.epoch = 0 : i64}
// CHECK: "ttnn.matmul"({{[^<]*}}<{transpose_a{{.*}}{ttcore.epoch = 0 : i64}
// CHECK: "ttnn.relu"{{.*}}{ttcore.epoch = 1 : i64}
// CHECK: "ttnn.matmul"({{[^<]*}}<{transpose_a{{.*}}{ttcore.epoch = 1 : i64}
// CHECK: "ttnn.gelu"{{.*}}{ttcore.epoch = 1 : i64, ttcore.fusion_group = "alone"}
func.func @main(%x: tensor<32x64xbf16>, %w: tensor<64x32xbf16>, %v: tensor<32x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x64xbf16>, tensor<64x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.relu"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.matmul"(%1, %v) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %3 = "ttir.relu"(%2) {ttcore.epoch_break = "relu"} : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %4 = "ttir.matmul"(%3, %v) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %5 = "ttir.gelu"(%4) {ttcore.fusion_group = "alone"} : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1, %3, %5 : tensor<32x32xbf16>, tensor<32x32xbf16>, tensor<32x32xbf16>
}

// CHECK-LABEL: @equal
// CHECK: "ttnn.exp"{{.*}}{ttcore.epoch = 0 : i64}
// CHECK: "ttnn.exp"{{.*}}{ttcore.epoch = 1 : i64}
func.func @equal(%x: tensor<32x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.exp"(%x) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.exp"(%x) {ttcore.epoch_break = "again"} : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %0, %1 : tensor<32x32xbf16>, tensor<32x32xbf16>
}
