// RUN: ttmlir-opt %s --ttir-number-epochs | FileCheck %s
// RUN: ttmlir-opt %s --ttir-number-epochs --ttir-number-epochs | FileCheck %s

// CHECK-NOT: ttcore.epoch_break

// The first op with a label begins an epoch; the first op of a function is in epoch 0 in any case.
// CHECK-LABEL: @labels
// CHECK: "ttir.exp"{{.*}}{ttcore.epoch = 0 : i64}
// CHECK: "ttir.abs"{{.*}}{ttcore.epoch = 0 : i64}
// CHECK: "ttir.relu"{{.*}}{ttcore.epoch = 1 : i64}
// CHECK: "ttir.neg"{{.*}}{ttcore.epoch = 1 : i64}
// CHECK: "ttir.sqrt"{{.*}}{ttcore.epoch = 2 : i64}
// CHECK: "ttir.sin"{{.*}}{ttcore.epoch = 2 : i64}
// CHECK: return
// CHECK-NOT: ttcore.epoch
func.func @labels(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%x) {ttcore.epoch_break = "first"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.abs"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  %2 = "ttir.relu"(%1) {ttcore.epoch_break = ["a", "b"]} : (tensor<4xf32>) -> tensor<4xf32>
  %3 = "ttir.neg"(%2) {ttcore.epoch_break = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  %4 = "ttir.sqrt"(%3) {ttcore.epoch_break = ["b", "c"]} : (tensor<4xf32>) -> tensor<4xf32>
  %5 = "ttir.sin"(%4) : (tensor<4xf32>) -> tensor<4xf32>
  return %5 : tensor<4xf32>
}

// CHECK-LABEL: @plain
// CHECK-NEXT: "ttir.exp"(%arg0) {ttcore.fusion_group = "exp"}
// CHECK-NEXT: "ttir.abs"(%0) : (tensor
func.func @plain(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = "ttir.exp"(%x) {ttcore.fusion_group = "exp"} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.abs"(%0) : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
