// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @cond(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.while(%i = %x) : tensor<2xf32> cond {
    // expected-error@+1 {{returns ('tensor<2xf32>') from the cond; expected ('tensor<i1>')}}
    stablehlo.return %i : tensor<2xf32>
  } do {
    stablehlo.return %i : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @body(%x: tensor<2xf32>, %p: tensor<i1>) -> tensor<2xf32> {
  %0 = stablehlo.while(%i = %x) : tensor<2xf32> cond {
    stablehlo.return %p : tensor<i1>
  } do {
    // expected-error@+1 {{returns ('tensor<i1>') from the body; expected ('tensor<2xf32>')}}
    stablehlo.return %p : tensor<i1>
  }
  return %0 : tensor<2xf32>
}

// -----

func.func @types(%x: tensor<2xf32>) {
  // expected-error@+1 {{number of operands and types do not match: got 1 operands and 0 types}}
  stablehlo.while(%i = %x) cond {
  } do {
  }
  return
}

// -----

func.func @if_results(%p: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    // expected-error@+1 {{returns ('tensor<i1>') from the false_branch; expected ('tensor<2xf32>')}}
    stablehlo.return %p : tensor<i1>
  }) : (tensor<i1>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @no_branches(%i: tensor<i32>) {
  // expected-error@+1 {{has no branches; expected one or more}}
  "stablehlo.case"(%i) : (tensor<i32>) -> ()
  return
}

// -----

func.func @map_dimensions(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  // expected-error@+1 {{has dimensions [1, 0]; expected all, in order, of rank 2}}
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 1, 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// -----

func.func @no_decomposition(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has the decomposition 'f', which is not a function of this module}}
  %0 = stablehlo.composite "a" %x {decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func private @f(tensor<3xf32>) -> tensor<3xf32>
func.func @other_types(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{is ('tensor<2xf32>') -> ('tensor<2xf32>') but its decomposition 'f' is ('tensor<3xf32>') -> ('tensor<3xf32>')}}
  %0 = stablehlo.composite "a" %x {decomposition = @f} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @layouts(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  // expected-error@+1 {{operand_layouts[0] has 1 dimensions; expected a permutation of those of 'tensor<2x2xf32>'}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

func.func @one_layout(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{has only one of operand_layouts and result_layouts; expected both or none}}
  %0 = stablehlo.custom_call @f(%x) {operand_layouts = [dense<0> : tensor<1xindex>]} : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @tuple_index(%t: tuple<tensor<f32>>) -> tensor<f32> {
  // expected-error@+1 {{has index 1 of 'tuple<tensor<f32>>'; expected less than 1}}
  %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<f32>>) -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @barrier(%x: tensor<2xf32>) -> tensor<3xf32> {
  // expected-error@+1 {{has results ('tensor<3xf32>'); expected those of its operands, ('tensor<2xf32>')}}
  %0 = "stablehlo.optimization_barrier"(%x) : (tensor<2xf32>) -> tensor<3xf32>
  return %0 : tensor<3xf32>
}

// -----

func.func @arguments_and_results(%x: tensor<2xf32>) -> tensor<2xf32> {
  // expected-error @below {{has 1 arguments for 1 operands; expected none, as results are listed}}
  %0 = stablehlo.while(%i = %x) : tensor<2xf32> -> tensor<2xf32> cond {
  } do {
  }
  return %0 : tensor<2xf32>
}
