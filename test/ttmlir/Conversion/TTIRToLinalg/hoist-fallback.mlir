// RUN: ttmlir-opt %s --cpu-hoist-fallback --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --cpu-hoist-fallback --cpu-hoist-fallback --split-input-file | FileCheck %s

// One call for what is connected; what is behind an op of the chip is another.
// CHECK: func.func @cpu_hoisted_fallback(%[[A:.*]]: tensor<4xf32>) -> tensor<4xf32> attributes {tt.function_type = "forward_cpu"}
// CHECK-NEXT: %[[X:.*]] = math.absf %[[A]]
// CHECK-NEXT: %[[Y:.*]] = arith.addf %[[X]], %[[A]]
// CHECK-NEXT: return %[[Y]]
// CHECK: func.func @cpu_hoisted_arith_negf
// CHECK-LABEL: func.func @regions
// CHECK-SAME: %[[A:.*]]: tensor<4xf32>
// CHECK-NEXT: %[[E:.*]] = "ttir.exp"(%[[A]])
// CHECK-NEXT: %[[Y:.*]] = call @cpu_hoisted_fallback(%[[A]]) {ttir.cpu_hoisted_call}
// CHECK-NEXT: %[[Z:.*]] = "ttir.add"(%[[Y]], %[[E]])
// CHECK-NEXT: %[[R:.*]] = call @cpu_hoisted_arith_negf(%[[Z]])
// CHECK-NEXT: return %[[R]]
// CHECK: func.func private @cpu_hoisted_fallback(tensor<4xf32>) -> tensor<4xf32> attributes {tt.function_type = "forward_cpu_declaration"}
func.func @regions(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = math.absf %a : tensor<4xf32>
  %e = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  %y = arith.addf %x, %a : tensor<4xf32>
  %z = "ttir.add"(%y, %e) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %r = arith.negf %z : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// A region may not be read and read by what lies between: the two negations are not one call.
// CHECK-LABEL: func.func @between
// CHECK-NEXT: %[[X:.*]] = call @cpu_hoisted_arith_negf
// CHECK-NEXT: %[[Y:.*]] = "ttir.exp"(%[[X]])
// CHECK-NEXT: %[[Z:.*]] = call @cpu_hoisted_arith_addf(%[[X]], %[[Y]])
// CHECK-NEXT: return %[[Z]]
func.func @between(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = arith.negf %a : tensor<4xf32>
  %y = "ttir.exp"(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %z = arith.addf %x, %y : tensor<4xf32>
  return %z : tensor<4xf32>
}

// -----

// Types that the chip lacks are converted in the function, and scalars are tensors outside.
// CHECK: func.func @cpu_hoisted_fallback(%[[A:.*]]: tensor<4xf32>) -> (tensor<i32>, tensor<f32>, tensor<f32>)
// CHECK-NEXT: arith.constant 1 : index
// CHECK-NEXT: %[[W:.*]] = arith.extf %[[A]] : tensor<4xf32> to tensor<4xf64>
// CHECK: %[[N:.*]] = arith.fptosi %{{.*}} : f64 to i64
// CHECK-DAG: tensor.from_elements %[[N]] : tensor<i64>
// CHECK-DAG: arith.trunci %{{.*}} : tensor<i64> to tensor<i32>
// CHECK-DAG: arith.truncf %{{.*}} : tensor<f64> to tensor<f32>
// CHECK: func.func @cpu_hoisted_fallback_0(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>) -> tensor<f32>
// CHECK-LABEL: func.func @types
// CHECK: %[[R:.*]]:3 = call @cpu_hoisted_fallback(%{{.*}}) {{.*}} : (tensor<4xf32>) -> (tensor<si32>, tensor<f32>, tensor<f32>)
// CHECK: call @cpu_hoisted_fallback_0(%{{.*}}, %[[R]]#1)
func.func @types(%a: tensor<4xf64>) -> (tensor<i64>, tensor<f64>) {
  %c1 = arith.constant 1 : index
  %x = tensor.extract %a[%c1] : tensor<4xf64>
  %n = arith.fptosi %x : f64 to i64
  %t = tensor.from_elements %n : tensor<i64>
  %s = arith.mulf %x, %x : f64
  %u = tensor.from_elements %x : tensor<f64>
  %v = "ttir.exp"(%u) : (tensor<f64>) -> tensor<f64>
  %w = tensor.extract %v[] : tensor<f64>
  %p = arith.addf %w, %s : f64
  %r = tensor.from_elements %p : tensor<f64>
  return %t, %r : tensor<i64>, tensor<f64>
}

// -----

// Equal functions are one, also where constants are made again inside. The chip has its own.
// CHECK: func.func @cpu_hoisted_arith_mulf
// CHECK-NOT: func.func @cpu_hoisted_arith_mulf
// CHECK-LABEL: func.func @equal
// CHECK-NEXT: %[[C:.*]] = "ttir.constant"() <{value = dense<2.000000e+00> : tensor<4xf32>}>
// CHECK-NEXT: %[[X:.*]] = call @cpu_hoisted_arith_mulf(%{{.*}})
// CHECK-NEXT: %[[Y:.*]] = call @cpu_hoisted_arith_mulf(%{{.*}})
// CHECK-NEXT: "ttir.add"(%[[X]], %[[C]])
func.func @equal(%a: tensor<4xf32>, %b: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %c = arith.constant dense<2.0> : tensor<4xf32>
  %x = arith.mulf %a, %c : tensor<4xf32>
  %y = arith.mulf %b, %c : tensor<4xf32>
  %z = "ttir.add"(%x, %c) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %z, %y : tensor<4xf32>, tensor<4xf32>
}

// -----

// What somebody wants to see ends a call.
module attributes {ttcore.observed = array<i64: 0>} {
  // CHECK-LABEL: func.func @observed
  // CHECK: call @cpu_hoisted_arith_negf
  // CHECK: call @cpu_hoisted_math_exp
  func.func @observed(%a: tensor<4xf32>) -> tensor<4xf32> {
    %x = arith.negf %a : tensor<4xf32> loc(fused<0 : i64>["x":1:1])
    %y = math.exp %x : tensor<4xf32> loc(fused<1 : i64>["x":2:1])
    return %y : tensor<4xf32>
  }
}

// -----

// Nothing of the host: nothing changes.
// CHECK-NOT: cpu_module
// CHECK-LABEL: func.func @none
// CHECK-NEXT: "ttir.exp"
func.func @none(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = "ttir.exp"(%a) : (tensor<4xf32>) -> tensor<4xf32>
  return %x : tensor<4xf32>
}

// -----

// Nor are ops that nobody reads anybody's.
// CHECK-NOT: cpu_module
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%a: tensor<4xf32>) -> tensor<4xf32> {
  %x = math.exp %a : tensor<4xf32>
  return %a : tensor<4xf32>
}
