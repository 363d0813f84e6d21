// RUN: ttmlir-opt %s --ttir-number-epochs --split-input-file --verify-diagnostics

func.func @label(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op ttcore.epoch_break is 3 : i64; expected a label in quotes, or a list of labels}}
  %0 = "ttir.exp"(%x) {ttcore.epoch_break = 3 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @labels(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op ttcore.epoch_break is ["a", 3]; expected a label in quotes, or a list of labels}}
  %0 = "ttir.exp"(%x) {ttcore.epoch_break = ["a", 3]} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @both(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op has ttcore.epoch, and other ops have ttcore.epoch_break; expected one of them in a function}}
  %0 = "ttir.exp"(%x) {ttcore.epoch = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "ttir.abs"(%0) {ttcore.epoch_break = "a"} : (tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @number(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op ttcore.epoch is -1 : i64; expected an i64 of at least 0}}
  %0 = "ttir.exp"(%x) {ttcore.epoch = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @width(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op ttcore.epoch is 1 : i32; expected an i64 of at least 0}}
  %0 = "ttir.exp"(%x) {ttcore.epoch = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @group(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{'ttir.exp' op ttcore.fusion_group is unit; expected a name in quotes}}
  %0 = "ttir.exp"(%x) {ttcore.fusion_group} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @merged(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @+1 {{ttcore.merged is 3 : i64; expected a list of texts}}
  %0 = "ttir.exp"(%x) {ttcore.merged = 3 : i64} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
