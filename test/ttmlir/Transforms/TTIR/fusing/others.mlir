// RUN: ttmlir-opt %s --ttir-fusing --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttir-fusing=enable-permute-slice-after-matmul-fusion=false --split-input-file | FileCheck %s --check-prefix=WHOLE

// The heads of keys and values that several heads of the query share.
// CHECK-LABEL: @repeated
// CHECK-NEXT: %[[Y:.*]] = "ttir.repeat_interleave"(%arg0) <{dim = 1 : si32, repeats = 4 : ui32}> : (tensor<1x2x8x16xf32>) -> tensor<1x8x8x16xf32>
// CHECK-NEXT: return %[[Y]]
func.func @repeated(%x: tensor<1x2x8x16xf32>) -> tensor<1x8x8x16xf32> {
  %0 = "ttir.reshape"(%x) <{shape = [1 : i32, 2 : i32, 1 : i32, 8 : i32, 16 : i32]}> : (tensor<1x2x8x16xf32>) -> tensor<1x2x1x8x16xf32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 1, 1, 4, 1, 1>}> : (tensor<1x2x1x8x16xf32>) -> tensor<1x2x4x8x16xf32>
  %2 = "ttir.reshape"(%1) <{shape = [1 : i32, 8 : i32, 8 : i32, 16 : i32]}> : (tensor<1x2x4x8x16xf32>) -> tensor<1x8x8x16xf32>
  return %2 : tensor<1x8x8x16xf32>
}

// -----

// Whole copies one after the other, and a dimension that is joined with the one behind it.
// CHECK-LABEL: @not_repeated
// CHECK-NOT: repeat_interleave
func.func @not_repeated(%x: tensor<2x8xf32>) -> (tensor<8x8xf32>, tensor<2x32xf32>) {
  %0 = "ttir.reshape"(%x) <{shape = [1 : i32, 2 : i32, 8 : i32]}> : (tensor<2x8xf32>) -> tensor<1x2x8xf32>
  %1 = "ttir.broadcast"(%0) <{broadcast_dimensions = array<i64: 4, 1, 1>}> : (tensor<1x2x8xf32>) -> tensor<4x2x8xf32>
  %2 = "ttir.reshape"(%1) <{shape = [8 : i32, 8 : i32]}> : (tensor<4x2x8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.reshape"(%x) <{shape = [2 : i32, 1 : i32, 8 : i32]}> : (tensor<2x8xf32>) -> tensor<2x1x8xf32>
  %4 = "ttir.broadcast"(%3) <{broadcast_dimensions = array<i64: 1, 4, 1>}> : (tensor<2x1x8xf32>) -> tensor<2x4x8xf32>
  %5 = "ttir.reshape"(%4) <{shape = [2 : i32, 32 : i32]}> : (tensor<2x4x8xf32>) -> tensor<2x32xf32>
  return %2, %5 : tensor<8x8xf32>, tensor<2x32xf32>
}

// -----

// The last row of logits, strided columns with their bias, and both from sides that are transposed.
// CHECK-LABEL: @slices
// CHECK-NEXT: %[[A:.*]] = "ttir.slice_static"(%arg0) <{begins = [31 : i32, 0 : i32], ends = [32 : i32, 64 : i32], step = [1 : i32, 1 : i32]}> : (tensor<32x64xf32>) -> tensor<1x64xf32>
// CHECK-NEXT: "ttir.matmul"(%[[A]], %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<1x64xf32>, tensor<64x16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.slice_static"(%arg1) <{begins = [0 : i32, 2 : i32], ends = [64 : i32, 16 : i32], step = [1 : i32, 2 : i32]}>
// CHECK-NEXT: %[[C:.*]] = "ttir.slice_static"(%arg2) <{begins = [2 : i32], ends = [16 : i32], step = [2 : i32]}>
// CHECK-NEXT: "ttir.linear"(%arg0, %[[B]], %[[C]])
// CHECK-NEXT: %[[D:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32], ends = [32 : i32, 4 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: %[[E:.*]] = "ttir.slice_static"(%arg3) <{begins = [1 : i32, 0 : i32], ends = [3 : i32, 32 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: "ttir.matmul"(%[[D]], %[[E]]) <{transpose_a = true, transpose_b = true}> : (tensor<32x4xf32>, tensor<2x32xf32>) -> tensor<4x2xf32>
// CHECK-NEXT: return
// WHOLE-LABEL: @slices
// WHOLE-NEXT: "ttir.matmul"(%arg0, %arg1)
func.func @slices(%x: tensor<32x64xf32>, %w: tensor<64x16xf32>, %b: tensor<16xf32>, %y: tensor<8x32xf32>) -> (tensor<1x16xf32>, tensor<32x7xf32>, tensor<4x2xf32>) {
  %0 = "ttir.matmul"(%x, %w) : (tensor<32x64xf32>, tensor<64x16xf32>) -> tensor<32x16xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [31 : i32, 0 : i32], ends = [32 : i32, 16 : i32], step = [1 : i32, 1 : i32]}> : (tensor<32x16xf32>) -> tensor<1x16xf32>
  %2 = "ttir.linear"(%x, %w, %b) : (tensor<32x64xf32>, tensor<64x16xf32>, tensor<16xf32>) -> tensor<32x16xf32>
  %3 = "ttir.slice_static"(%2) <{begins = [0 : i32, 2 : i32], ends = [32 : i32, 16 : i32], step = [1 : i32, 2 : i32]}> : (tensor<32x16xf32>) -> tensor<32x7xf32>
  %4 = "ttir.matmul"(%x, %y) <{transpose_a = true, transpose_b = true}> : (tensor<32x64xf32>, tensor<8x32xf32>) -> tensor<64x8xf32>
  %5 = "ttir.slice_static"(%4) <{begins = [0 : i32, 1 : i32], ends = [4 : i32, 3 : i32], step = [1 : i32, 1 : i32]}> : (tensor<64x8xf32>) -> tensor<4x2xf32>
  return %1, %3, %5 : tensor<1x16xf32>, tensor<32x7xf32>, tensor<4x2xf32>
}

// -----

// A product that something else reads, and a part of a stack of products.
// CHECK-LABEL: @no_slices
// CHECK-COUNT-2: "ttir.slice_static"(%{{[0-9]}})
func.func @no_slices(%x: tensor<4x4xf32>, %y: tensor<2x4x4xf32>) -> (tensor<4x4xf32>, tensor<1x4xf32>, tensor<1x4x4xf32>) {
  %0 = "ttir.matmul"(%x, %x) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [3 : i32, 0 : i32], ends = [4 : i32, 4 : i32], step = [1 : i32, 1 : i32]}> : (tensor<4x4xf32>) -> tensor<1x4xf32>
  %2 = "ttir.matmul"(%y, %y) : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %3 = "ttir.slice_static"(%2) <{begins = [0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 4 : i32, 4 : i32], step = [1 : i32, 1 : i32, 1 : i32]}> : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
  return %0, %1, %3 : tensor<4x4xf32>, tensor<1x4xf32>, tensor<1x4x4xf32>
}

// -----

// CHECK-LABEL: @gelu
// CHECK-COUNT-3: "ttir.gelu"(%arg0)
// A product with something else is none.
// CHECK-NEXT: "ttir.multiply"
// CHECK-NEXT: "ttir.erf"
func.func @gelu(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %half = "ttir.full"() <{fill_value = 0.5 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %root = "ttir.full"() <{fill_value = 1.41421354 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %inverse = "ttir.full"() <{fill_value = 0.707106769 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.div"(%x, %root) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %1 = "ttir.erf"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.add"(%1, %one) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %3 = "ttir.multiply"(%x, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.multiply"(%3, %half) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %5 = "ttir.multiply"(%x, %inverse) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %6 = "ttir.erf"(%5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = "ttir.add"(%one, %6) : (tensor<1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = "ttir.multiply"(%half, %x) : (tensor<1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = "ttir.multiply"(%8, %7) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = "ttir.div"(%x, %root) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %11 = "ttir.erf"(%10) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %12 = "ttir.add"(%11, %one) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %13 = "ttir.multiply"(%12, %half) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %14 = "ttir.multiply"(%13, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %15 = "ttir.multiply"(%x, %inverse) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %16 = "ttir.erf"(%15) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %17 = "ttir.add"(%16, %one) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %18 = "ttir.multiply"(%17, %half) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %19 = "ttir.multiply"(%18, %y) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %4, %9, %14, %19 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @hardsigmoid
// CHECK: "ttir.hardsigmoid"(%arg0)
// CHECK-NEXT: %[[GATE:.*]] = "ttir.hardsigmoid"(%arg0)
// CHECK-NEXT: "ttir.multiply"(%arg1, %[[GATE]])
// Another number than 6 scales to something else.
// CHECK: "ttir.relu6"
// CHECK-NEXT: "ttir.div"
func.func @hardsigmoid(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %three = "ttir.full"() <{fill_value = 3.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %five = "ttir.full"() <{fill_value = 5.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %six = "ttir.full"() <{fill_value = 6.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %sixth = "ttir.full"() <{fill_value = 0.166666672 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.add"(%x, %three) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %1 = "ttir.relu6"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.multiply"(%1, %sixth) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %3 = "ttir.add"(%x, %three) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %4 = "ttir.clamp_scalar"(%3) <{min = 0.0 : f32, max = 6.0 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.multiply"(%y, %4) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = "ttir.div"(%5, %six) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %7 = "ttir.add"(%x, %three) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %8 = "ttir.relu6"(%7) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = "ttir.div"(%8, %five) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  return %2, %6, %9 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @mish
// CHECK-COUNT-4: "ttir.mish"(%arg0)
// CHECK-NEXT: "ttir.exp"
func.func @mish(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %one = "ttir.full"() <{fill_value = 1.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %limit = "ttir.full"() <{fill_value = 20.0 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.log1p"(%0) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = "ttir.tanh"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.multiply"(%x, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.add"(%4, %one) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %6 = "ttir.log"(%5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = "ttir.tanh"(%6) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = "ttir.multiply"(%7, %x) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %9 = "ttir.exp"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %10 = "ttir.log1p"(%9) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = "ttir.gt"(%x, %limit) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xi1>
  %12 = "ttir.where"(%11, %x, %10) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %13 = "ttir.tanh"(%12) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %14 = "ttir.multiply"(%x, %13) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %15 = "ttir.relu"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %16 = "ttir.abs"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %17 = "ttir.neg"(%16) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %18 = "ttir.exp"(%17) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %19 = "ttir.log1p"(%18) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %20 = "ttir.add"(%15, %19) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %21 = "ttir.tanh"(%20) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %22 = "ttir.multiply"(%x, %21) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  // Of another value.
  %23 = "ttir.exp"(%22) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %24 = "ttir.log1p"(%23) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %25 = "ttir.tanh"(%24) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %26 = "ttir.multiply"(%x, %25) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return %3, %8, %14, %22, %26 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// -----

// CHECK-LABEL: @pointwise
// CHECK-NEXT: %[[W:.*]] = "ttir.reshape"(%arg1) <{shape = [8 : i32, 16 : i32]}>
// CHECK-NEXT: %[[B:.*]] = "ttir.reshape"(%arg2) <{shape = [8 : i32]}>
// CHECK-NEXT: "ttir.linear"(%arg0, %[[W]], %[[B]]) <{transpose_a = false, transpose_b = true}> : (tensor<1x2x3x4x16xf32>, tensor<8x16xf32>, tensor<8xf32>) -> tensor<1x2x3x4x8xf32>
// CHECK-NEXT: %[[X:.*]] = "ttir.permute"(%arg3) <{permutation = array<i64: 0, 2, 3, 4, 1>}>
// CHECK-NEXT: %[[V:.*]] = "ttir.reshape"(%arg1)
// CHECK-NEXT: %[[Y:.*]] = "ttir.linear"(%[[X]], %[[V]])
// CHECK-NEXT: "ttir.permute"(%[[Y]]) <{permutation = array<i64: 0, 4, 1, 2, 3>}>
// CHECK-NEXT: "ttir.conv3d"
func.func @pointwise(%x: tensor<1x2x3x4x16xf32>, %w: tensor<8x16x1x1x1xf32>, %b: tensor<1x1x1x1x8xf32>, %y: tensor<1x16x2x3x4xf32>) -> (tensor<1x2x3x4x8xf32>, tensor<1x8x2x3x4xf32>, tensor<1x1x2x2x8xf32>) {
  %0 = "ttir.conv3d"(%x, %w, %b) <{groups = 1 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 1, 1, 1>}> : (tensor<1x2x3x4x16xf32>, tensor<8x16x1x1x1xf32>, tensor<1x1x1x1x8xf32>) -> tensor<1x2x3x4x8xf32>
  %1 = "ttir.conv3d"(%y, %w) <{batch_dim = 0 : i64, channel_dim = 1 : i64, depth_dim = 2 : i64, groups = 1 : i32, height_dim = 3 : i64, padding = 0 : i32, stride = 1 : i32, width_dim = 4 : i64}> : (tensor<1x16x2x3x4xf32>, tensor<8x16x1x1x1xf32>) -> tensor<1x8x2x3x4xf32>
  %2 = "ttir.conv3d"(%x, %w) <{groups = 1 : i32, padding = array<i32: 0, 0, 0>, stride = array<i32: 2, 2, 2>}> : (tensor<1x2x3x4x16xf32>, tensor<8x16x1x1x1xf32>) -> tensor<1x1x2x2x8xf32>
  return %0, %1, %2 : tensor<1x2x3x4x8xf32>, tensor<1x8x2x3x4xf32>, tensor<1x1x2x2x8xf32>
}

// -----

// Rows or columns that only a bias has are taken of it alone.
// CHECK-LABEL: @slices_of_biases
// CHECK-NEXT: %[[B:.*]] = "ttir.slice_static"(%arg2) <{begins = [2 : i32, 0 : i32], ends = [4 : i32, 16 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: "ttir.linear"(%arg0, %arg1, %[[B]]) {{.*}} : (tensor<1x8xf32>, tensor<8x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: %[[C:.*]] = "ttir.slice_static"(%arg5) <{begins = [3 : i32], ends = [4 : i32], step = [1 : i32]}>
// CHECK-NEXT: "ttir.linear"(%arg3, %arg4, %[[C]]) {{.*}} : (tensor<8x4xf32>, tensor<4x1xf32>, tensor<1xf32>) -> tensor<8x1xf32>
func.func @slices_of_biases(%a: tensor<1x8xf32>, %b: tensor<8x16xf32>, %c: tensor<6x16xf32>, %d: tensor<8x4xf32>, %e: tensor<4x1xf32>, %f: tensor<8xf32>) -> (tensor<2x16xf32>, tensor<8x1xf32>) {
  %0 = "ttir.linear"(%a, %b, %c) : (tensor<1x8xf32>, tensor<8x16xf32>, tensor<6x16xf32>) -> tensor<6x16xf32>
  %1 = "ttir.slice_static"(%0) <{begins = [2 : i32, 0 : i32], ends = [4 : i32, 16 : i32], step = [1 : i32, 1 : i32]}> : (tensor<6x16xf32>) -> tensor<2x16xf32>
  %2 = "ttir.linear"(%d, %e, %f) : (tensor<8x4xf32>, tensor<4x1xf32>, tensor<8xf32>) -> tensor<8x8xf32>
  %3 = "ttir.slice_static"(%2) <{begins = [0 : i32, 3 : i32], ends = [8 : i32, 4 : i32], step = [1 : i32, 1 : i32]}> : (tensor<8x8xf32>) -> tensor<8x1xf32>
  return %1, %3 : tensor<2x16xf32>, tensor<8x1xf32>
}

// -----

// The forms of other front ends: by the complement, whose argument is negated in any place.
// CHECK-LABEL: @gelu_by_erfc
// CHECK-COUNT-2: "ttir.gelu"(%arg0)
// Without the sign it is none.
// CHECK: "ttir.erfc"
func.func @gelu_by_erfc(%x: tensor<4x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %half = "ttir.full"() <{fill_value = 0.5 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %inverse = "ttir.full"() <{fill_value = 0.707106769 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %below = "ttir.full"() <{fill_value = -0.707106769 : f32, shape = array<i32: 1>}> : () -> tensor<1xf32>
  %0 = "ttir.neg"(%x) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "ttir.multiply"(%0, %inverse) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %2 = "ttir.erfc"(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = "ttir.multiply"(%half, %x) : (tensor<1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "ttir.multiply"(%3, %2) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = "ttir.multiply"(%below, %x) : (tensor<1xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = "ttir.erfc"(%5) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = "ttir.multiply"(%x, %6) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %8 = "ttir.multiply"(%7, %half) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %9 = "ttir.multiply"(%x, %inverse) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %10 = "ttir.erfc"(%9) : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %11 = "ttir.multiply"(%x, %10) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %12 = "ttir.multiply"(%11, %half) : (tensor<4x8xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  return %4, %8, %12 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}
