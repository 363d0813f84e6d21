// RUN: ttmlir-opt %s --ttir-widen-padded-blocks | FileCheck %s
// RUN: ttmlir-opt %s --ttir-widen-padded-blocks --ttir-widen-padded-blocks | FileCheck %s --check-prefix=AGAIN

!b = !ttcore.tile<32x32, bfp_bf8>

// Operands are computed with in the floats of the op; the result's padding is zeroed before it is rounded.
// CHECK-LABEL: @reciprocal
func.func @reciprocal(%x: tensor<32x40x!b>) -> tensor<32x40x!b> {
  // CHECK: %[[x:.*]] = "ttir.typecast"(%arg0) {{.*}} -> tensor<32x40xbf16>
  // CHECK: %[[y:.*]] = "ttir.reciprocal"(%[[x]]) : (tensor<32x40xbf16>) -> tensor<32x40xbf16>
  // CHECK: %[[wide:.*]] = "ttir.typecast"(%[[y]]) {{.*}} -> tensor<32x40xf32>
  // CHECK-DAG: %[[at:.*]] = "ttir.constant"() <{value = dense<{{.*}}1.000000e+00, 2.000000e+00, {{.*}}4.000000e+01{{.*}}> : tensor<1x40xf32>}>
  // CHECK-DAG: %[[zero:.*]] = "ttir.constant"() <{value = dense<0.000000e+00> : tensor<1x1xf32>}>
  // CHECK: %[[kept:.*]] = "ttir.where"(%[[at]], %[[wide]], %[[zero]])
  // CHECK: "ttir.typecast"(%[[kept]]) {{.*}} : (tensor<32x40xf32>) -> tensor<32x40x!ttcore.tile<32x32, bfp_bf8>>
  // AGAIN-LABEL: @reciprocal
  // AGAIN-COUNT-1: "ttir.reciprocal"
  %0 = "ttir.reciprocal"(%x) : (tensor<32x40x!b>) -> tensor<32x40x!b>
  return %0 : tensor<32x40x!b>
}

// Whole blocks stay.
// CHECK-LABEL: @whole_blocks
func.func @whole_blocks(%x: tensor<5x48x!b>) -> tensor<5x48x!b> {
  // CHECK-NEXT: "ttir.reciprocal"(%arg0) : (tensor<5x48x!ttcore.tile<32x32, bfp_bf8>>)
  %0 = "ttir.reciprocal"(%x) : (tensor<5x48x!b>) -> tensor<5x48x!b>
  return %0 : tensor<5x48x!b>
}

// A reduction reads such rows, and its one column is a part of a block.
// CHECK-LABEL: @max
func.func @max(%x: tensor<32x40x!b>) -> tensor<32x1x!b> {
  // CHECK: "ttir.max"(%{{.*}}) {{.*}} : (tensor<32x40xbf16>) -> tensor<32x1xf32>
  // CHECK: "ttir.slice_static"(%{{.*}}) {{.*}} : (tensor<1x2xf32>) -> tensor<1x1xf32>
  %0 = "ttir.max"(%x) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x40x!b>) -> tensor<32x1x!b>
  return %0 : tensor<32x1x!b>
}

// Several ops in one are computed in f32.
// CHECK-LABEL: @softmax
func.func @softmax(%x: tensor<32x40x!b>) -> tensor<32x40x!b> {
  // CHECK: "ttir.softmax"(%{{.*}}) {{.*}} : (tensor<32x40xf32>) -> tensor<32x40xf32>
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32}> : (tensor<32x40x!b>) -> tensor<32x40x!b>
  return %0 : tensor<32x40x!b>
}

// The padding of arguments is zero.
// CHECK-LABEL: @argument
func.func @argument(%x: tensor<32x40xf32>) -> tensor<32x40x!b> {
  // CHECK-NEXT: "ttir.typecast"(%arg0)
  // CHECK-NEXT: return
  %0 = "ttir.typecast"(%x) : (tensor<32x40xf32>) -> tensor<32x40x!b>
  return %0 : tensor<32x40x!b>
}
