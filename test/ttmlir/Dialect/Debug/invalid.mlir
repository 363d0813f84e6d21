// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @another_shape(%x: tensor<4xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{'debug.hook' op requires the same type for all operands and results}}
  %0 = "debug.hook"(%x) : (tensor<4xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @no_tensor(%x: f32) {
  // expected-error@+1 {{'debug.breakpoint' op operand #0 must be ranked tensor of any type values, but got 'f32'}}
  "debug.breakpoint"(%x) : (f32) -> ()
  return
}

// -----

func.func @no_path(%x: tensor<4xf32>) {
  // expected-error@+1 {{'debug.memory_snapshot' op requires attribute 'file_path'}}
  "debug.memory_snapshot"(%x) : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @empty_path(%x: tensor<4xf32>) {
  // expected-error@+1 {{'debug.dump' op file_path is empty}}
  "debug.dump"(%x) <{file_path = ""}> : (tensor<4xf32>) -> ()
  return
}

// -----

func.func @empty_scope(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{'debug.region_start' op region_id is empty}}
  %0 = "debug.region_start"(%x) <{region_id = ""}> : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @overwrite_by_another_type(%x: tensor<4xf32>, %y: tensor<4xbf16>) -> tensor<4xf32> {
  // expected-error@+1 {{'debug.overwrite' op requires the same type for all operands and results}}
  %0 = "debug.overwrite"(%x, %y) : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @no_function(%x: tensor<4xf32>) {
  // expected-error@+1 {{'debug.host_call' op function is empty}}
  "debug.host_call"(%x) <{function = ""}> : (tensor<4xf32>) -> ()
  return
}
