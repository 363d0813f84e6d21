// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @index(%t: tuple<tensor<2xf32>>) -> tensor<2xf32> {
  // expected-error@+2 {{'ttcore.get_tuple_element' op index is 1 of 'tuple<tensor<2xf32>>'; expected one of its elements, counted from 0}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = "ttcore.get_tuple_element"(%t) <{index = 1 : i32}> : (tuple<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @notATuple(%a: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{the result is 'tensor<2xf32>'; expected a tuple}}
  %0 = ttcore.tuple %a : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @noGlobal() -> tensor<2xf32> {
  // expected-error@+1 {{reads 'slot', which is no ttcore.global of this module}}
  %0 = ttcore.get_global @slot : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

ttcore.global @slot = tensor<3xf32>
func.func @otherType() -> tensor<2xf32> {
  // expected-error@+1 {{result is 'tensor<2xf32>' but 'slot' is 'tensor<3xf32>'}}
  %0 = ttcore.get_global @slot : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @key(%d: !ttcore.dict, %a: tensor<2xf32>) {
  // expected-error@+1 {{has an empty key; expected a name or a number}}
  ttcore.set_key_value %d[""] = %a : !ttcore.dict, tensor<2xf32>
  return
}

// -----

func.func @number(%d: !ttcore.dict) -> tensor<2xf32> {
  // expected-error@+1 {{has the key -1; expected 0 or more}}
  %0 = ttcore.get_key_value %d[-1 : index] : (!ttcore.dict) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @nothing(%d: !ttcore.dict) {
  // expected-error@+1 {{has no values; expected one or more}}
  "ttcore.set_key_value"(%d) <{key = "w"}> : (!ttcore.dict) -> ()
  return
}

// -----

func.func @noFunction(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{calls 'absent', which is not a function of this module}}
  %0 = "ttcore.composite"(%x) <{composite_name = "scale", decomposition = @absent}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @twice(%x: tensor<3xf32>) -> tensor<3xf32>
func.func @otherShape(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{input 0 is 'tensor<2xf32>' but 'twice' has 'tensor<3xf32>'}}
  %0 = "ttcore.composite"(%x) <{composite_name = "scale", decomposition = @twice}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @twice(%x: tensor<2xf32>) -> tensor<2xf32>
func.func @noName(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has no composite_name; expected the name of what it computes}}
  %0 = "ttcore.composite"(%x) <{composite_name = "", decomposition = @twice}> : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
