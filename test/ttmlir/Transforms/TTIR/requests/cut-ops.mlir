// RUN: ttmlir-opt %s --ttir-cut-ops --split-input-file | FileCheck %s
// RUN: ttmlir-opt %s --ttir-cut-ops --ttir-cut-ops --split-input-file | FileCheck %s

// Columns of the result are columns of the right side, and of a bias that is not broadcast along them.
// CHECK-LABEL: func.func @columns
func.func @columns(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>, %bias: tensor<6xf32>) -> tensor<4x6xf32> {
  // CHECK: %[[W0:.*]] = "ttir.slice_static"(%arg1) <{begins = [0 : i32, 0 : i32], ends = [8 : i32, 3 : i32]
  // CHECK: %[[B0:.*]] = "ttir.slice_static"(%arg2) <{begins = [0 : i32], ends = [3 : i32]
  // CHECK: %[[P0:.*]] = "ttir.linear"(%arg0, %[[W0]], %[[B0]]){{.*}} {ttcore.part = 0 : i64} : {{.*}} -> tensor<4x3xf32>
  // CHECK: %[[W1:.*]] = "ttir.slice_static"(%arg1) <{begins = [0 : i32, 3 : i32], ends = [8 : i32, 6 : i32]
  // CHECK: %[[B1:.*]] = "ttir.slice_static"(%arg2) <{begins = [3 : i32], ends = [6 : i32]
  // CHECK: %[[P1:.*]] = "ttir.linear"(%arg0, %[[W1]], %[[B1]]){{.*}} {ttcore.part = 1 : i64}
  // CHECK: "ttir.concat"(%[[P0]], %[[P1]]) <{dim = 1 : si32}>
  %0 = "ttir.linear"(%x, %w, %bias) {ttcore.cut = array<i64: -1, 2>} : (tensor<4x8xf32>, tensor<8x6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// -----

// An op that is cut in the same way reads the parts; another one the whole. Parts have the requests of the op.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4x8xf32>, %w: tensor<8x6xf32>) -> (tensor<4x6xf32>, tensor<4x1xf32>) {
  // CHECK: %[[X0:.*]] = "ttir.slice_static"(%arg0) {{.*}}ends = [2 : i32, 8 : i32]{{.*}} {ttcore.epoch = 1 : i64}
  // CHECK: %[[P0:.*]] = "ttir.matmul"(%[[X0]], %arg1){{.*}} {ttcore.epoch = 1 : i64, ttcore.fusion_group = "a", ttcore.part = 0 : i64}
  // CHECK: %[[P1:.*]] = "ttir.matmul"(%{{.*}}, %arg1){{.*}} {ttcore.epoch = 1 : i64, ttcore.fusion_group = "a", ttcore.part = 1 : i64}
  %0 = "ttir.matmul"(%x, %w) {ttcore.cut = array<i64: -2, 2>, ttcore.epoch = 1 : i64, ttcore.fusion_group = "a"} : (tensor<4x8xf32>, tensor<8x6xf32>) -> tensor<4x6xf32>
  // CHECK: %[[WHOLE:.*]] = "ttir.concat"(%[[P0]], %[[P1]]) <{dim = 0 : si32}> {ttcore.epoch = 1 : i64}
  // CHECK: %[[E0:.*]] = "ttir.exp"(%[[P0]]) {ttcore.part = 0 : i64}
  // CHECK: %[[E1:.*]] = "ttir.exp"(%[[P1]]) {ttcore.part = 1 : i64}
  // CHECK: %[[EXP:.*]] = "ttir.concat"(%[[E0]], %[[E1]]) <{dim = 0 : si32}>
  %1 = "ttir.exp"(%0) {ttcore.cut = array<i64: -2, 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: "ttir.sum"(%[[WHOLE]])
  %2 = "ttir.sum"(%0) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<4x6xf32>) -> tensor<4x1xf32>
  // CHECK: return %[[EXP]]
  return %1, %2 : tensor<4x6xf32>, tensor<4x1xf32>
}

// -----

// Changes of dimensions of size 1 between ops that are cut in the same way apply to the parts.
// CHECK-LABEL: func.func @behind_a_batch
// CHECK-COUNT-2: "ttir.abs"({{.*}} -> tensor<2x6xf32>
// CHECK-NOT: "ttir.concat"
// CHECK: %[[R0:.*]] = "ttir.reshape"(%{{.*}}) <{shape = [1 : i32, 2 : i32, 6 : i32]}> : (tensor<2x6xf32>) -> tensor<1x2x6xf32>
// CHECK-NEXT: "ttir.exp"(%[[R0]]) {ttcore.part = 0 : i64}
// CHECK-NEXT: %[[R1:.*]] = "ttir.reshape"(%{{.*}}) <{shape = [1 : i32, 2 : i32, 6 : i32]}>
// CHECK-NEXT: "ttir.exp"(%[[R1]]) {ttcore.part = 1 : i64}
// CHECK-NEXT: "ttir.concat"{{.*}} -> tensor<1x4x6xf32>
func.func @behind_a_batch(%x: tensor<4x6xf32>) -> tensor<1x4x6xf32> {
  %0 = "ttir.abs"(%x) {ttcore.cut = array<i64: -2, 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "ttir.reshape"(%0) <{shape = [1 : i32, 1 : i32, 4 : i32, 6 : i32]}> : (tensor<4x6xf32>) -> tensor<1x1x4x6xf32>
  %2 = "ttir.reshape"(%1) <{shape = [1 : i32, 4 : i32, 6 : i32]}> : (tensor<1x1x4x6xf32>) -> tensor<1x4x6xf32>
  %3 = "ttir.exp"(%2) {ttcore.cut = array<i64: -2, 2>} : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
  return %3 : tensor<1x4x6xf32>
}

// -----

// Other reshapes change which elements are in a part.
// CHECK-LABEL: func.func @behind_a_reshape
// CHECK: "ttir.concat"
// CHECK-COUNT-2: "ttir.slice_static"
// CHECK: "ttir.exp"
func.func @behind_a_reshape(%x: tensor<4x6xf32>) -> tensor<6x4xf32> {
  %0 = "ttir.abs"(%x) {ttcore.cut = array<i64: -2, 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "ttir.reshape"(%0) <{shape = [6 : i32, 4 : i32]}> : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %2 = "ttir.exp"(%1) {ttcore.cut = array<i64: -2, 2>} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// -----

// No op concatenates what only parts read; one part is the op.
// CHECK-LABEL: func.func @parts_only
// CHECK-COUNT-2: "ttir.abs"
// CHECK-NOT: "ttir.concat"
// CHECK-COUNT-2: "ttir.exp"
// CHECK: "ttir.concat"
// CHECK-NOT: "ttir.slice_static"
// CHECK: "ttir.neg"{{.*}} : (tensor<4x6xf32>) -> tensor<4x6xf32>
func.func @parts_only(%x: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = "ttir.abs"(%x) {ttcore.cut = array<i64: 1, 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %1 = "ttir.exp"(%0) {ttcore.cut = array<i64: -1, 2>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  %2 = "ttir.neg"(%1) {ttcore.cut = array<i64: -1, 1>} : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %2 : tensor<4x6xf32>
}

// -----

// What is broadcast is read whole, and data movement ops are not cut.
// CHECK-LABEL: func.func @broadcast
func.func @broadcast(%x: tensor<4x6xf32>, %y: tensor<4x1xf32>) -> tensor<6x4xf32> {
  // CHECK: "ttir.add"(%{{.*}}, %arg1) {{.*}} : (tensor<4x2xf32>, tensor<4x1xf32>) -> tensor<4x2xf32>
  %0 = "ttir.add"(%x, %y) {ttcore.cut = array<i64: -1, 3>} : (tensor<4x6xf32>, tensor<4x1xf32>) -> tensor<4x6xf32>
  // CHECK: "ttir.permute"{{.*}} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  %1 = "ttir.permute"(%0) <{permutation = array<i64: 1, 0>}> {ttcore.cut = array<i64: -1, 2>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// Rows of the window: the first reads one row of padding above, the last one below, the middle one none. The first has
// the bias.
// CHECK-LABEL: func.func @window
func.func @window(%x: tensor<1x8x8x4xf32>, %w: tensor<6x4x3x3xf32>, %bias: tensor<1x1x1x6xf32>) -> tensor<1x8x8x6xf32> {
  // CHECK: %[[X0:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 0 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 7 : i32, 8 : i32, 4 : i32]
  // CHECK: %[[W0:.*]] = "ttir.slice_static"(%arg1) {{.*}}ends = [6 : i32, 4 : i32, 1 : i32, 3 : i32]
  // CHECK: %[[C0:.*]] = "ttir.conv2d"(%[[X0]], %[[W0]], %arg2) {{.*}}padding = array<i32: 1, 1, 0, 1>{{.*}} {ttcore.part = 0 : i64}
  // CHECK: %[[C1:.*]] = "ttir.conv2d"(%arg0, %{{.*}}) {{.*}}padding = array<i32: 0, 1, 0, 1>{{.*}} {ttcore.part = 1 : i64}
  // CHECK: %[[SUM:.*]] = "ttir.add"(%[[C0]], %[[C1]])
  // CHECK: %[[X2:.*]] = "ttir.slice_static"(%arg0) <{begins = [0 : i32, 1 : i32, 0 : i32, 0 : i32], ends = [1 : i32, 8 : i32, 8 : i32, 4 : i32]
  // CHECK: %[[C2:.*]] = "ttir.conv2d"(%[[X2]], %{{.*}}) {{.*}}padding = array<i32: 0, 1, 1, 1>{{.*}} {ttcore.part = 2 : i64}
  // CHECK: "ttir.add"(%[[SUM]], %[[C2]])
  %0 = "ttir.conv2d"(%x, %w, %bias) <{stride = 1 : i32, padding = 1 : i32, dilation = 1 : i32, groups = 1 : i32}> {ttcore.cut_window = 3 : i64} : (tensor<1x8x8x4xf32>, tensor<6x4x3x3xf32>, tensor<1x1x1x6xf32>) -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}

// -----

// A part that would read padding alone is left out.
// CHECK-LABEL: func.func @padding_alone
// CHECK-COUNT-1: "ttir.conv2d"
// CHECK-NOT: "ttir.conv2d"
func.func @padding_alone(%x: tensor<1x1x4x4xf32>, %w: tensor<6x4x3x1xf32>) -> tensor<1x1x4x6xf32> {
  %0 = "ttir.conv2d"(%x, %w) <{stride = 1 : i32, padding = array<i32: 1, 0>, dilation = 1 : i32, groups = 1 : i32}> {ttcore.cut_window = 3 : i64} : (tensor<1x1x4x4xf32>, tensor<6x4x3x1xf32>) -> tensor<1x1x4x6xf32>
  return %0 : tensor<1x1x4x6xf32>
}
