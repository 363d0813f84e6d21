// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -mlir-print-op-generic | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s

// CHECK-LABEL: @loop
func.func @loop(%n: tensor<i32>, %x: tensor<?xf32>) -> tensor<?xf32> {
  // CHECK: %[[R:.*]]:2 = stablehlo.while(%[[I:.*]] = %arg0, %[[V:.*]] = %arg1) : tensor<i32>, tensor<?xf32>
  // CHECK-SAME: attributes {my.note = 1 : i64}
  // CHECK-NEXT: cond {
  // CHECK-NEXT: stablehlo.compare LT, %[[I]], %arg0
  // CHECK: } do {
  // CHECK-NEXT: stablehlo.return %[[I]], %[[V]]
  %r:2 = stablehlo.while(%i = %n, %v = %x) : tensor<i32>, tensor<?xf32> attributes {my.note = 1 : i64}
  cond {
    %p = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return %i, %v : tensor<i32>, tensor<?xf32>
  }
  return %r#1 : tensor<?xf32>
}

// Results and arguments with other types than the operands have, as refinement leaves them, are printed with these.
// CHECK-LABEL: @refined
func.func @refined(%x: tensor<4xf32>, %p: tensor<i1>) -> tensor<?xf32> {
  // CHECK: %[[R:.*]] = stablehlo.while(%arg0) : tensor<4xf32> -> tensor<?xf32>
  // CHECK-NEXT: cond {
  // CHECK-NEXT: ^bb0(%{{.*}}: tensor<?xf32>):
  // CHECK: } do {
  // CHECK-NEXT: ^bb0(%[[V:.*]]: tensor<?xf32>):
  // CHECK-NEXT: stablehlo.return %[[V]] : tensor<?xf32>
  %r = "stablehlo.while"(%x) ({
  ^bb0(%v: tensor<?xf32>):
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%v: tensor<?xf32>):
    stablehlo.return %v : tensor<?xf32>
  }) : (tensor<4xf32>) -> tensor<?xf32>
  return %r : tensor<?xf32>
}

// CHECK-LABEL: @nothing_carried
func.func @nothing_carried(%p: tensor<i1>) {
  // CHECK: stablehlo.while()
  stablehlo.while() cond {
    stablehlo.return %p : tensor<i1>
  } do {
    stablehlo.return
  }
  return
}

// CHECK-LABEL: @branches
func.func @branches(%p: tensor<i1>, %i: tensor<i32>, %x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  // CHECK: "stablehlo.if"(%arg0) ({
  %0 = "stablehlo.if"(%p) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i1>) -> tensor<2xf32>
  // CHECK: "stablehlo.case"(%arg1) ({
  %1 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0, %1 : tensor<2xf32>, tensor<2xf32>
}

func.func private @impl(%x: tensor<2xf32>) -> tensor<2xf32>

// CHECK-LABEL: @calls
func.func @calls(%x: tensor<2xf32>, %t: !stablehlo.token) -> tensor<2xf32> {
  // CHECK: stablehlo.composite "my.op" %arg0 {composite_attributes = {n = 1 : i64}, decomposition = @impl, version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %0 = stablehlo.composite "my.op" %x {composite_attributes = {n = 1 : i64}, decomposition = @impl, version = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.custom_call @Sharding(%{{.*}}) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {backend_config = "", mhlo.sharding = "{replicated}"} : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.custom_call @"a b"(%{{.*}}) {api_version = 4 : i32, backend_config = {k = 1 : i64}, has_side_effect = true, operand_layouts = [dense<0> : tensor<1xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<0> : tensor<1xindex>]}
  %2 = stablehlo.custom_call @"a b"(%1) {api_version = 4 : i32, backend_config = {k = 1 : i64}, has_side_effect = true,
    operand_layouts = [dense<0> : tensor<1xindex>], result_layouts = [dense<0> : tensor<1xindex>],
    output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>]}
    : (tensor<2xf32>) -> tensor<2xf32>
  // CHECK: stablehlo.create_token : !stablehlo.token
  %3 = stablehlo.create_token : !stablehlo.token
  // CHECK: stablehlo.after_all %{{.*}}, %arg1 : !stablehlo.token
  %4 = stablehlo.after_all %3, %t : !stablehlo.token
  // CHECK: stablehlo.optimization_barrier %{{.*}}, %{{.*}} : tensor<2xf32>, !stablehlo.token
  %5:2 = stablehlo.optimization_barrier %2, %4 : tensor<2xf32>, !stablehlo.token
  // CHECK: stablehlo.tuple %{{.*}}, %{{.*}} : tuple<tensor<2xf32>, !stablehlo.token>
  %6 = stablehlo.tuple %5#0, %5#1 : tuple<tensor<2xf32>, !stablehlo.token>
  // CHECK: stablehlo.get_tuple_element %{{.*}}[0] : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
  %7 = stablehlo.get_tuple_element %6[0] : (tuple<tensor<2xf32>, !stablehlo.token>) -> tensor<2xf32>
  return %7 : tensor<2xf32>
}
