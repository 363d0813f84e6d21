// RUN: ttmlir-opt %s --ttir-integer-products --split-input-file | FileCheck %s

// CHECK-LABEL: @zero_points_and_scales_of_columns
func.func @zero_points_and_scales_of_columns(%a: tensor<32x64xui8>, %za: tensor<1x1xui8>, %b: tensor<64x48xi8>, %s: tensor<1x1xf32>, %t: tensor<1x48xf32>) -> tensor<32x48xf32> {
  // CHECK: %[[Z:.*]] = "ttir.subtract"{{.*}} -> tensor<32x64xf32>
  // CHECK: %[[S:.*]] = "ttir.multiply"({{.*}}) : (tensor<1x1xf32>, tensor<1x48xf32>) -> tensor<1x48xf32>
  // CHECK: %[[A:.*]] = "ttir.typecast"(%[[Z]]) <{{.*}}> : (tensor<32x64xf32>) -> tensor<32x64xi32>
  // CHECK: %[[P:.*]] = "ttir.matmul"(%[[A]], %{{.*}}) <{{.*}}> : (tensor<32x64xi32>, tensor<64x48xi32>) -> tensor<32x48xi32>
  // CHECK: %[[F:.*]] = "ttir.typecast"(%[[P]]) <{{.*}}> : (tensor<32x48xi32>) -> tensor<32x48xf32>
  // CHECK: "ttir.multiply"(%[[F]], %[[S]])
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x64xui8>) -> tensor<32x64xf32>
  %1 = "ttir.typecast"(%za) <{conservative_folding = false}> : (tensor<1x1xui8>) -> tensor<1x1xf32>
  %2 = "ttir.broadcast"(%1) <{broadcast_dimensions = array<i64: 32, 64>}> : (tensor<1x1xf32>) -> tensor<32x64xf32>
  %3 = "ttir.subtract"(%0, %2) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %4 = "ttir.broadcast"(%s) <{broadcast_dimensions = array<i64: 32, 64>}> : (tensor<1x1xf32>) -> tensor<32x64xf32>
  %5 = "ttir.multiply"(%3, %4) : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x64xf32>
  %6 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<64x48xi8>) -> tensor<64x48xf32>
  %7 = "ttir.multiply"(%6, %t) : (tensor<64x48xf32>, tensor<1x48xf32>) -> tensor<64x48xf32>
  %8 = "ttir.matmul"(%5, %7) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  return %8 : tensor<32x48xf32>
}

// -----

// A scale for each value that is summed up.
// CHECK-LABEL: @scales_along_the_sum
func.func @scales_along_the_sum(%a: tensor<32x64xi8>, %b: tensor<64x48xi8>, %s: tensor<1x64xf32>, %t: tensor<1x1xf32>) -> tensor<32x48xf32> {
  // CHECK: "ttir.matmul"{{.*}} -> tensor<32x48xf32>
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %1 = "ttir.multiply"(%0, %s) : (tensor<32x64xf32>, tensor<1x64xf32>) -> tensor<32x64xf32>
  %2 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<64x48xi8>) -> tensor<64x48xf32>
  %3 = "ttir.multiply"(%2, %t) : (tensor<64x48xf32>, tensor<1x1xf32>) -> tensor<64x48xf32>
  %4 = "ttir.matmul"(%1, %3) <{transpose_a = false, transpose_b = false}> : (tensor<32x64xf32>, tensor<64x48xf32>) -> tensor<32x48xf32>
  return %4 : tensor<32x48xf32>
}

// -----

// 40000 * 255 * 255 is more than 32 bits hold.
// CHECK-LABEL: @long_sums
func.func @long_sums(%a: tensor<32x40000xi8>, %b: tensor<40000x48xi8>, %s: tensor<1x1xf32>) -> tensor<32x48xf32> {
  // CHECK: "ttir.matmul"{{.*}} -> tensor<32x48xf32>
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x40000xi8>) -> tensor<32x40000xf32>
  %1 = "ttir.multiply"(%0, %s) : (tensor<32x40000xf32>, tensor<1x1xf32>) -> tensor<32x40000xf32>
  %2 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<40000x48xi8>) -> tensor<40000x48xf32>
  %3 = "ttir.multiply"(%2, %s) : (tensor<40000x48xf32>, tensor<1x1xf32>) -> tensor<40000x48xf32>
  %4 = "ttir.matmul"(%1, %3) <{transpose_a = false, transpose_b = false}> : (tensor<32x40000xf32>, tensor<40000x48xf32>) -> tensor<32x48xf32>
  return %4 : tensor<32x48xf32>
}

// -----

// A column of the transposed weight is a row of it; its scales become those of columns.
// CHECK-LABEL: @transposed
func.func @transposed(%a: tensor<32x64xi8>, %b: tensor<48x64xi8>, %s: tensor<32x1xf32>, %t: tensor<48x1xf32>) -> tensor<32x48xf32> {
  // CHECK: "ttir.reshape"{{.*}} : (tensor<48x1xf32>) -> tensor<1x48xf32>
  // CHECK: "ttir.multiply"{{.*}} : (tensor<32x1xf32>, tensor<1x48xf32>) -> tensor<32x48xf32>
  // CHECK: "ttir.matmul"{{.*}}transpose_b = true{{.*}} -> tensor<32x48xi32>
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x64xi8>) -> tensor<32x64xf32>
  %1 = "ttir.multiply"(%0, %s) : (tensor<32x64xf32>, tensor<32x1xf32>) -> tensor<32x64xf32>
  %2 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<48x64xi8>) -> tensor<48x64xf32>
  %3 = "ttir.multiply"(%2, %t) : (tensor<48x64xf32>, tensor<48x1xf32>) -> tensor<48x64xf32>
  %4 = "ttir.matmul"(%1, %3) <{transpose_a = false, transpose_b = true}> : (tensor<32x64xf32>, tensor<48x64xf32>) -> tensor<32x48xf32>
  return %4 : tensor<32x48xf32>
}

// -----

// CHECK-LABEL: @convolution
func.func @convolution(%x: tensor<1x8x8x16xui8>, %w: tensor<24x16x3x3xi8> {ttcore.argument_type = #ttcore.argument_type<parameter>}, %s: tensor<1x1x1x1xf32>, %t: tensor<24x1x1x1xf32>, %c: tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32> {
  // CHECK: "ttir.conv2d"{{.*}} : (tensor<1x8x8x16xi32>, tensor<24x16x3x3xi32>) -> tensor<1x8x8x24xi32>
  // CHECK: "ttir.add"{{.*}}(tensor<1x8x8x24xf32>, tensor<1x1x1x24xf32>)
  %0 = "ttir.typecast"(%x) <{conservative_folding = false}> : (tensor<1x8x8x16xui8>) -> tensor<1x8x8x16xf32>
  %1 = "ttir.multiply"(%0, %s) : (tensor<1x8x8x16xf32>, tensor<1x1x1x1xf32>) -> tensor<1x8x8x16xf32>
  %2 = "ttir.typecast"(%w) <{conservative_folding = false}> : (tensor<24x16x3x3xi8>) -> tensor<24x16x3x3xf32>
  %3 = "ttir.multiply"(%2, %t) : (tensor<24x16x3x3xf32>, tensor<24x1x1x1xf32>) -> tensor<24x16x3x3xf32>
  %4 = "ttir.conv2d"(%1, %3, %c) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> : (tensor<1x8x8x16xf32>, tensor<24x16x3x3xf32>, tensor<1x1x1x24xf32>) -> tensor<1x8x8x24xf32>
  return %4 : tensor<1x8x8x24xf32>
}

// -----

// A zero point of another range: 20000 * 510 * 255 is more than 32 bits hold.
// CHECK-LABEL: @zero_points_beyond_the_type
func.func @zero_points_beyond_the_type(%a: tensor<32x20000xui8>, %b: tensor<20000x48xui8>, %s: tensor<1x1xf32>) -> tensor<32x48xf32> {
  // CHECK: "ttir.matmul"{{.*}} -> tensor<32x48xf32>
  %z = "ttir.full"() <{shape = array<i32: 32, 20000>, fill_value = -255.0 : f32}> : () -> tensor<32x20000xf32>
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x20000xui8>) -> tensor<32x20000xf32>
  %1 = "ttir.subtract"(%0, %z) : (tensor<32x20000xf32>, tensor<32x20000xf32>) -> tensor<32x20000xf32>
  %2 = "ttir.multiply"(%1, %s) : (tensor<32x20000xf32>, tensor<1x1xf32>) -> tensor<32x20000xf32>
  %3 = "ttir.typecast"(%b) <{conservative_folding = false}> : (tensor<20000x48xui8>) -> tensor<20000x48xf32>
  %4 = "ttir.multiply"(%3, %s) : (tensor<20000x48xf32>, tensor<1x1xf32>) -> tensor<20000x48xf32>
  %5 = "ttir.matmul"(%2, %4) <{transpose_a = false, transpose_b = false}> : (tensor<32x20000xf32>, tensor<20000x48xf32>) -> tensor<32x48xf32>
  return %5 : tensor<32x48xf32>
}
