// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-layout --convert-ttir-to-ttnn | FileCheck %s

// CHECK-LABEL: func.func @by_name
func.func @by_name(%a: tensor<4x8xf32>, %b: tensor<1x8xf32>, %c: tensor<4x8xi1>) -> tensor<4x8xf32> {
  // CHECK: "ttnn.add"(%arg0, %arg1)
  %0 = "ttir.add"(%a, %b) : (tensor<4x8xf32>, tensor<1x8xf32>) -> tensor<4x8xf32>
  // CHECK: "ttnn.where"(%arg2, %{{.*}}, %arg0)
  %1 = "ttir.where"(%c, %0, %a) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "ttnn.leaky_relu"(%{{.*}}) <{parameter = 5.000000e-01 : f32}>
  %2 = "ttir.leaky_relu"(%1) <{parameter = 0.5 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "ttnn.softmax"(%{{.*}}) <{dimension = -1 : si32, numericStable = true}>
  %3 = "ttir.softmax"(%2) <{dimension = -1 : si32, numericStable = true}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// CHECK-LABEL: func.func @renamed
func.func @renamed(%a: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xbf16>) {
  // CHECK: "ttnn.divide"
  %0 = "ttir.div"(%a, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "ttnn.pow_tensor"
  %1 = "ttir.pow"(%0, %a) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // CHECK: "ttnn.typecast"(%{{[0-9]*}}) : {{.*}} -> tensor<4x8xbf16
  %2 = "ttir.typecast"(%1) <{conservative_folding = true}> : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %1, %2 : tensor<4x8xf32>, tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @made
func.func @made() -> (tensor<4x8xf32>, tensor<2xf32>) {
  // One device serves the function.
  // CHECK-NEXT: %[[D:.*]] = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}>
  // CHECK-NEXT: "ttnn.full"(%[[D]]) <{fill_value = 2.000000e+00 : f32, shape = #ttnn.shape<1x8>}>
  %0 = "ttir.full"() <{fill_value = 2.0 : f32, shape = array<i32: 1, 8>}> : () -> tensor<1x8xf32>
  // CHECK-NEXT: "ttnn.repeat"(%{{.*}}) <{repeat_dims = #ttnn.shape<4x1>}>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 4, 1>}> : (tensor<1x8xf32>) -> tensor<4x8xf32>
  // CHECK-NEXT: "ttnn.constant"(%[[D]]) <{value = dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>}>
  %2 = "ttir.constant"() <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  // CHECK-NEXT: return
  return %1, %2 : tensor<4x8xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @decomposed
func.func @decomposed(%a: tensor<4x8xbf16>) -> tensor<4x8xbf16> {
  // What is computed on the way is f32.
  // CHECK: "ttnn.abs"{{.*}} -> tensor<4x8xf32
  // CHECK: "ttnn.add"{{.*}} -> tensor<4x8xf32
  // CHECK: "ttnn.divide"{{.*}} -> tensor<4x8xbf16
  %0 = "ttir.softsign"(%a) : (tensor<4x8xbf16>) -> tensor<4x8xbf16>
  return %0 : tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @layout
func.func @layout(%a: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  // CHECK-NEXT: "ttnn.to_layout"(%arg0)
  // CHECK-NEXT: return
  %0 = ttir.empty() : tensor<4x8xbf16>
  %1 = ttir.to_layout %a, %0 : tensor<4x8xf32> into tensor<4x8xbf16> -> tensor<4x8xbf16>
  return %1 : tensor<4x8xbf16>
}

// A bias that the product broadcasts to is added behind it.
// CHECK-LABEL: func.func @linear_bias
func.func @linear_bias(%a: tensor<4x8xbf16>, %w: tensor<8x8xbf16>, %b: tensor<2x4x8xbf16>, %r: tensor<8xbf16>) -> (tensor<2x4x8xbf16>, tensor<4x8xbf16>) {
  // CHECK: %[[P:.*]] = "ttnn.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = true}> : {{.*}} -> tensor<4x8xf32
  // CHECK: "ttnn.add"(%[[P]], %arg2) {{.*}} -> tensor<2x4x8xbf16
  %0 = "ttir.linear"(%a, %w, %b) <{transpose_b = true}> : (tensor<4x8xbf16>, tensor<8x8xbf16>, tensor<2x4x8xbf16>) -> tensor<2x4x8xbf16>
  // CHECK: "ttnn.linear"(%arg0, %arg1, %arg3)
  %1 = "ttir.linear"(%a, %w, %r) : (tensor<4x8xbf16>, tensor<8x8xbf16>, tensor<8xbf16>) -> tensor<4x8xbf16>
  return %0, %1 : tensor<2x4x8xbf16>, tensor<4x8xbf16>
}

// CHECK-LABEL: func.func @complements
func.func @complements(%p: tensor<4x8xi1>, %i: tensor<4x8xsi32>) -> (tensor<4x8xi1>, tensor<4x8xsi32>) {
  // CHECK: "ttnn.logical_not"(%arg0)
  %0 = "ttir.bitwise_not"(%p) : (tensor<4x8xi1>) -> tensor<4x8xi1>
  // CHECK: "ttnn.bitwise_not"(%arg1)
  %1 = "ttir.bitwise_not"(%i) : (tensor<4x8xsi32>) -> tensor<4x8xsi32>
  return %0, %1 : tensor<4x8xi1>, tensor<4x8xsi32>
}
