// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics

// expected-error@+1 {{'func.func' op argument 0 is 'tuple<tensor<2xf32>, tensor<3xf32>>'; programs of TTNN take and give tensors, each by itself}}
func.func @tuple(%x: tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32> {
  %0 = ttcore.get_tuple_element %x[0] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @result(%a: tensor<2xf32>) -> tuple<tensor<2xf32>> {
  // expected-error@+1 {{'ttcore.tuple' op result 0 is 'tuple<tensor<2xf32>>'; programs of TTNN}}
  %0 = ttcore.tuple %a : tuple<tensor<2xf32>>
  return %0 : tuple<tensor<2xf32>>
}

// -----

ttcore.global @slot = tensor<2xf32>
func.func @global(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'ttcore.get_global' op is not lowered to TTNN: what a program reads is its arguments}}
  %0 = ttcore.get_global @slot : tensor<2xf32>
  %1 = "ttir.add"(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

// expected-error@+1 {{'func.func' op argument 0 is '!ttcore.dict'; programs of TTNN}}
func.func @dictionary(%d: !ttcore.dict, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = ttcore.get_key_value %d["w"] : (!ttcore.dict) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// Also of one that nothing reads.
// expected-error@+1 {{'func.func' op argument 1 is 'tuple<>'; programs of TTNN}}
func.func @unread(%x: tensor<2xf32>, %y: tuple<>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}

// -----

// A program may hold a global that it does not read.
ttcore.global @unread = tensor<2xf32>
func.func @unaffected(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
