// RUN: ttmlir-opt %s --convert-stablehlo-to-ttir | FileCheck %s --implicit-check-not=stablehlo.

// CHECK-LABEL: @names
func.func @names(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "ttir.exp"
  %0 = stablehlo.exponential %a : tensor<4xf32>
  // CHECK: "ttir.expm1"
  %1 = stablehlo.exponential_minus_one %0 : tensor<4xf32>
  // CHECK: "ttir.sigmoid"
  %2 = stablehlo.logistic %1 : tensor<4xf32>
  // CHECK: "ttir.log1p"
  %3 = stablehlo.log_plus_one %2 : tensor<4xf32>
  // CHECK: "ttir.div"(%{{.*}}, %{{.*}}) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %4 = stablehlo.divide %3, %b : tensor<4xf32>
  // CHECK: "ttir.pow"
  %5 = stablehlo.power %4, %b : tensor<4xf32>
  // CHECK: "ttir.atan2"
  %6 = stablehlo.atan2 %5, %b : tensor<4xf32>
  // CHECK: "ttir.neg"
  %7 = stablehlo.negate %6 : tensor<4xf32>
  return %7 : tensor<4xf32>
}

// The same op is logical on i1 and arithmetic elsewhere.
// CHECK-LABEL: @booleans
func.func @booleans(%p: tensor<4xi1>, %q: tensor<4xi1>, %i: tensor<4xi32>) -> (tensor<4xi1>, tensor<4xi32>) {
  // CHECK: "ttir.logical_or"(%{{.*}}) : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
  %0 = stablehlo.add %p, %q : tensor<4xi1>
  // CHECK: "ttir.logical_and"
  %1 = stablehlo.multiply %0, %q : tensor<4xi1>
  // CHECK: "ttir.logical_not"
  %2 = stablehlo.not %1 : tensor<4xi1>
  // CHECK: "ttir.bitwise_not"
  %3 = stablehlo.not %i : tensor<4xi32>
  // CHECK: "ttir.bitwise_xor"
  %4 = stablehlo.xor %3, %i : tensor<4xi32>
  return %2, %4 : tensor<4xi1>, tensor<4xi32>
}

// CHECK-LABEL: @compare_select_clamp
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[LOW:.*]]: tensor<f32>)
func.func @compare_select_clamp(%a: tensor<4xf32>, %low: tensor<f32>) -> tensor<4xf32> {
  // CHECK: %[[P:.*]] = "ttir.ge"(%[[A]], %[[A]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %0 = stablehlo.compare GE, %a, %a : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // CHECK: %[[W:.*]] = "ttir.where"(%[[P]], %[[A]], %[[A]])
  %1 = stablehlo.select %0, %a, %a : tensor<4xi1>, tensor<4xf32>
  // CHECK: "ttir.clamp_tensor"(%[[W]], %[[LOW]], %[[LOW]])
  %2 = stablehlo.clamp %low, %1, %low : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Every value but 0 becomes true.
// CHECK-LABEL: @conversions
func.func @conversions(%a: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xi1>) {
  // CHECK: "ttir.typecast"(%{{.*}}) {{.*}} : (tensor<4xf32>) -> tensor<4xbf16>
  %0 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xbf16>
  // CHECK: %[[ZERO:.*]] = "ttir.zeros"() <{shape = array<i32: 4>}> : () -> tensor<4xf32>
  // CHECK: "ttir.ne"(%{{.*}}, %[[ZERO]]) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  %1 = stablehlo.convert %a : (tensor<4xf32>) -> tensor<4xi1>
  return %0, %1 : tensor<4xbf16>, tensor<4xi1>
}

// The remainder has the sign of the dividend.
// CHECK-LABEL: @remainder
// CHECK-SAME: (%[[A:.*]]: tensor<4xf32>, %[[B:.*]]: tensor<4xf32>
func.func @remainder(%a: tensor<4xf32>, %b: tensor<4xf32>, %u: tensor<4xui32>) -> (tensor<4xf32>, tensor<4xui32>) {
  // CHECK: %[[X:.*]] = "ttir.abs"(%[[A]])
  // CHECK: %[[Y:.*]] = "ttir.abs"(%[[B]])
  // CHECK: %[[R:.*]] = "ttir.remainder"(%[[X]], %[[Y]])
  // CHECK: %[[Z:.*]] = "ttir.full"() <{fill_value = -0.000000e+00
  // CHECK: %[[P:.*]] = "ttir.gt"(%[[A]], %{{.*}})
  // CHECK: %[[M:.*]] = "ttir.maximum"(%[[A]], %[[Z]])
  // CHECK: %[[N:.*]] = "ttir.subtract"(%[[M]], %[[R]])
  // CHECK: "ttir.where"(%[[P]], %[[R]], %[[N]])
  %0 = stablehlo.remainder %a, %b : tensor<4xf32>
  // CHECK: "ttir.remainder"(%{{.*}}) : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xui32>
  %1 = stablehlo.remainder %u, %u : tensor<4xui32>
  return %0, %1 : tensor<4xf32>, tensor<4xui32>
}

// Attributes that are not the op's own stay with the value.
// CHECK-LABEL: @other_attributes
func.func @other_attributes(%a: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: "ttir.abs"(%{{.*}}) {note}
  %0 = stablehlo.abs %a {note} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Of integers, what truncating division leaves: right for every dividend, and for 0.
// CHECK-LABEL: @integer_remainder
func.func @integer_remainder(%a: tensor<4xi8>, %b: tensor<4xi8>) -> tensor<4xi8> {
  // CHECK: %[[Q:.*]] = "ttir.div"(%arg0, %arg1)
  // CHECK: %[[P:.*]] = "ttir.multiply"(%[[Q]], %arg1)
  // CHECK: "ttir.subtract"(%arg0, %[[P]])
  %0 = stablehlo.remainder %a, %b : tensor<4xi8>
  return %0 : tensor<4xi8>
}

// CHECK-LABEL: @sign
func.func @sign(%a: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  // CHECK: %[[S:.*]] = "ttir.sign"(%arg0)
  // CHECK: %[[M:.*]] = "ttir.abs"(%arg0)
  // CHECK: %[[N:.*]] = "ttir.gt"(%[[M]], %{{.*}})
  // CHECK: "ttir.where"(%[[N]], %[[S]], %arg0)
  %0 = stablehlo.sign %a : tensor<4xf32>
  // CHECK: "ttir.sign"(%arg1)
  // CHECK-NOT: ttir.where
  %1 = stablehlo.sign %i : tensor<4xi32>
  return %0, %1 : tensor<4xf32>, tensor<4xi32>
}

// CHECK-LABEL: @unsigned_arithmetic_shift
func.func @unsigned_arithmetic_shift(%a: tensor<4xui8>, %n: tensor<4xui8>) -> tensor<4xui8> {
  // CHECK: %[[A:.*]] = "ttir.typecast"(%arg0) {{.*}} -> tensor<4xi8>
  // CHECK: %[[S:.*]] = "ttir.right_shift"(%[[A]], %arg1) {{.*}} -> tensor<4xi8>
  // CHECK: "ttir.typecast"(%[[S]]) {{.*}} -> tensor<4xui8>
  %0 = stablehlo.shift_right_arithmetic %a, %n : tensor<4xui8>
  return %0 : tensor<4xui8>
}
