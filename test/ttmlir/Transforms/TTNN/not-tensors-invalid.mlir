// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics

func.func @tuple(%x: tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32> {
  // expected-error@+1 {{'ttcore.get_tuple_element' op is not lowered to TTNN: the values of a program are its arguments, each a tensor}}
  %0 = ttcore.get_tuple_element %x[0] : (tuple<tensor<2xf32>, tensor<3xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @result(%a: tensor<2xf32>) -> tuple<tensor<2xf32>> {
  // expected-error@+1 {{'ttcore.tuple' op is not lowered to TTNN}}
  %0 = ttcore.tuple %a : tuple<tensor<2xf32>>
  return %0 : tuple<tensor<2xf32>>
}

// -----

ttcore.global @slot = tensor<2xf32>
func.func @global(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'ttcore.get_global' op is not lowered to TTNN}}
  %0 = ttcore.get_global @slot : tensor<2xf32>
  %1 = "ttir.add"(%x, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

func.func @dictionary(%d: !ttcore.dict, %x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{'ttcore.get_key_value' op is not lowered to TTNN}}
  %0 = ttcore.get_key_value %d["w"] : (!ttcore.dict) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// A program may hold a global that it does not read.
ttcore.global @unread = tensor<2xf32>
func.func @unaffected(%x: tensor<2xf32>) -> tensor<2xf32> {
  return %x : tensor<2xf32>
}
