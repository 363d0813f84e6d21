// RUN: ttmlir-opt %s --convert-tosa-to-ttir --split-input-file | FileCheck %s

// CHECK-LABEL: @elementwise
// CHECK-NEXT: %[[A:.*]] = "ttir.subtract"(%arg0, %arg1) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.multiply"(%[[A]], %arg1)
// CHECK-NEXT: %[[C:.*]] = "ttir.neg"(%[[B]])
// CHECK-NEXT: %[[D:.*]] = "ttir.clamp_scalar"(%[[C]]) <{max = 6.000000e+00 : f32, min = 0.000000e+00 : f32}>
// CHECK-NEXT: %[[E:.*]] = "ttir.gt"(%[[D]], %arg1) : {{.*}} -> tensor<4x8xi1>
// CHECK-NEXT: %[[F:.*]] = "ttir.where"(%[[E]], %arg0, %arg1)
// CHECK-NEXT: %[[G:.*]] = "ttir.typecast"(%[[F]]) {{.*}} -> tensor<4x8xbf16>
// CHECK-NEXT: return %[[G]]
func.func @elementwise(%a: tensor<4x8xf32>, %b: tensor<4x8xf32>) -> tensor<4x8xbf16> {
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = "tosa.sub"(%a, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = "tosa.mul"(%0, %b, %shift) : (tensor<4x8xf32>, tensor<4x8xf32>, tensor<1xi8>) -> tensor<4x8xf32>
  %2 = "tosa.negate"(%1, %zp, %zp) : (tensor<4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<4x8xf32>
  %3 = "tosa.clamp"(%2) <{min_val = 0.0 : f32, max_val = 6.0 : f32}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = "tosa.greater"(%3, %b) : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xi1>
  %5 = "tosa.select"(%4, %a, %b) : (tensor<4x8xi1>, tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  %6 = "tosa.cast"(%5) : (tensor<4x8xf32>) -> tensor<4x8xbf16>
  return %6 : tensor<4x8xbf16>
}

// -----

// Rounded, and within the type's range.
// CHECK-LABEL: @integers
// CHECK-NEXT: %[[R:.*]] = "ttir.typecast"(%arg0) {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[ONE:.*]] = "ttir.constant"() <{value = dense<1.000000e+00> : tensor<1xf32>}>
// CHECK-NEXT: %[[ZERO:.*]] = "ttir.constant"() <{value = dense<0> : tensor<1xi32>}>
// CHECK-NEXT: %[[Q:.*]] = "ttir.quantize_unrolled"(%[[R]], %[[ONE]], %[[ZERO]]) : {{.*}} -> tensor<8xi32>
// CHECK-NEXT: %[[C:.*]] = "ttir.clamp_scalar"(%[[Q]]) <{max = 127 : i32, min = -128 : i32}>
// CHECK-NEXT: %[[N:.*]] = "ttir.typecast"(%[[C]]) {{.*}} -> tensor<8xi8>
// CHECK-NEXT: %[[F:.*]] = "ttir.typecast"(%[[N]]) {{.*}} -> tensor<8xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.typecast"(%[[F]]) {{.*}} -> tensor<8xi1>
// CHECK-NEXT: return %[[B]]
func.func @integers(%a: tensor<8xbf16>) -> tensor<8xi1> {
  %0 = "tosa.cast"(%a) : (tensor<8xbf16>) -> tensor<8xi8>
  %1 = "tosa.cast"(%0) : (tensor<8xi8>) -> tensor<8xf32>
  %2 = "tosa.cast"(%1) : (tensor<8xf32>) -> tensor<8xi1>
  return %2 : tensor<8xi1>
}

// -----

// CHECK-LABEL: @movement
// CHECK-NEXT: %[[A:.*]] = "ttir.permute"(%arg0) <{permutation = array<i64: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.reshape"(%[[A]]) <{shape = [2 : i32, 16 : i32]}>
// CHECK-NEXT: %[[C:.*]] = "ttir.concat"(%[[B]], %[[B]]) <{dim = 0 : si32}>
// CHECK-NEXT: %[[D:.*]] = "ttir.slice_static"(%[[C]]) <{begins = [1 : i32, 2 : i32], ends = [3 : i32, 10 : i32], step = [1 : i32, 1 : i32]}>
// CHECK-NEXT: %[[E:.*]] = "ttir.pad"(%[[D]]) <{padding = array<i32: 0, 1, 0, 0>, value = 5.000000e-01 : f32}>
// CHECK-NEXT: %[[F:.*]] = "ttir.repeat"(%[[E]]) <{repeat_dimensions = array<i64: 1, 2>}>
// CHECK-NEXT: %[[G:.*]] = "ttir.reverse"(%[[F]]) <{dimensions = array<i64: 1>}>
// CHECK-NEXT: %[[H:.*]] = "ttir.sum"(%[[G]]) <{dim_arg = [0 : i32], keep_dim = true}> : (tensor<3x16xf32>) -> tensor<1x16xf32>
// CHECK-NEXT: "ttir.argmax"(%[[H]]) <{dim_arg = [1 : i32], keep_dim = false}> : (tensor<1x16xf32>) -> tensor<1xi32>
// CHECK-NEXT: return
func.func @movement(%a: tensor<4x8xf32>) -> tensor<1xi32> {
  %shape = "tosa.const_shape"() <{values = dense<[2, 16]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %start = "tosa.const_shape"() <{values = dense<[1, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %size = "tosa.const_shape"() <{values = dense<[2, 8]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %padding = "tosa.const_shape"() <{values = dense<[0, 1, 0, 0]> : tensor<4xindex>}> : () -> !tosa.shape<4>
  %times = "tosa.const_shape"() <{values = dense<[1, 2]> : tensor<2xindex>}> : () -> !tosa.shape<2>
  %value = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = "tosa.transpose"(%a) <{perms = array<i32: 1, 0>}> : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %1 = "tosa.reshape"(%0, %shape) : (tensor<8x4xf32>, !tosa.shape<2>) -> tensor<2x16xf32>
  %2 = "tosa.concat"(%1, %1) <{axis = 0 : i32}> : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<4x16xf32>
  %3 = "tosa.slice"(%2, %start, %size) : (tensor<4x16xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<2x8xf32>
  %4 = "tosa.pad"(%3, %padding, %value) : (tensor<2x8xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<3x8xf32>
  %5 = "tosa.tile"(%4, %times) : (tensor<3x8xf32>, !tosa.shape<2>) -> tensor<3x16xf32>
  %6 = "tosa.reverse"(%5) <{axis = 1 : i32}> : (tensor<3x16xf32>) -> tensor<3x16xf32>
  %7 = "tosa.reduce_sum"(%6) <{axis = 0 : i32}> : (tensor<3x16xf32>) -> tensor<1x16xf32>
  %8 = "tosa.argmax"(%7) <{axis = 1 : i32}> : (tensor<1x16xf32>) -> tensor<1xi32>
  return %8 : tensor<1xi32>
}

// -----

// CHECK-LABEL: @windows
// CHECK: %[[W:.*]] = "ttir.permute"(%arg1) <{permutation = array<i64: 0, 3, 1, 2>}> : (tensor<8x3x3x4xf32>) -> tensor<8x4x3x3xf32>
// CHECK-NEXT: %[[B:.*]] = "ttir.reshape"(%arg2) <{shape = [1 : i32, 1 : i32, 1 : i32, 8 : i32]}>
// CHECK-NEXT: %[[C:.*]] = "ttir.conv2d"(%arg0, %[[W]], %[[B]]) <{{{.*}}dilation = array<i32: 1, 1>, groups = 1 : i32, {{.*}}padding = array<i32: 1, 1, 0, 1>, stride = array<i32: 1, 1>
// CHECK: %[[V:.*]] = "ttir.reshape"{{.*}} -> tensor<8x1x3x3xf32>
// CHECK: %[[D:.*]] = "ttir.conv2d"(%[[C]], %[[V]], {{.*}}groups = 8 : i32
// CHECK-NEXT: %[[E:.*]] = "ttir.max_pool2d"(%[[D]]) <{ceil_mode = false, dilation = 1 : i32, kernel = array<i32: 2, 2>, padding = array<i32: 0, 0, 0, 0>, stride = array<i32: 2, 2>}>
// CHECK-NEXT: "ttir.avg_pool2d"(%[[E]]) <{ceil_mode = false, count_include_pad = false
// CHECK-NEXT: return
func.func @windows(%x: tensor<1x9x8x4xf32>, %w: tensor<8x3x3x4xf32>, %b: tensor<8xf32>, %v: tensor<3x3x8x1xf32>) -> tensor<1x2x2x8xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = "tosa.conv2d"(%x, %w, %b, %zp, %zp) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 0, 1, 1>, stride = array<i64: 1, 1>}> : (tensor<1x9x8x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  %1 = "tosa.depthwise_conv2d"(%0, %v, %b, %zp, %zp) <{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>}> : (tensor<1x8x8x8xf32>, tensor<3x3x8x1xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x8xf32>
  %2 = "tosa.max_pool2d"(%1) <{kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}> : (tensor<1x8x8x8xf32>) -> tensor<1x4x4x8xf32>
  %3 = "tosa.avg_pool2d"(%2, %zp, %zp) <{acc_type = f32, kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>}> : (tensor<1x4x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x8xf32>
  return %3 : tensor<1x2x2x8xf32>
}

// -----

// CHECK-LABEL: @matmul
// CHECK: "ttir.matmul"(%arg0, %arg1) <{transpose_a = false, transpose_b = false}> : (tensor<2x4x8xf32>, tensor<2x8x3xf32>) -> tensor<2x4x3xf32>
func.func @matmul(%a: tensor<2x4x8xf32>, %b: tensor<2x8x3xf32>) -> tensor<2x4x3xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = "tosa.matmul"(%a, %b, %zp, %zp) : (tensor<2x4x8xf32>, tensor<2x8x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x3xf32>
  return %0 : tensor<2x4x3xf32>
}

// -----

// Products are as wide as their results.
// CHECK-LABEL: @wide
// CHECK: "ttir.multiply"({{.*}}) : (tensor<4x8xi32>, tensor<4x8xi32>) -> tensor<4x8xi32>
// CHECK: "ttir.matmul"({{.*}}) {{.*}} : (tensor<1x4x8xi32>, tensor<1x8x4xi32>) -> tensor<1x4x4xi32>
func.func @wide(%a: tensor<4x8xi8>, %m: tensor<1x4x8xi8>, %n: tensor<1x8x4xi8>) -> (tensor<4x8xi32>, tensor<1x4x4xi32>) {
  %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.mul %a, %a, %s : (tensor<4x8xi8>, tensor<4x8xi8>, tensor<1xi8>) -> tensor<4x8xi32>
  %1 = tosa.matmul %m, %n, %s, %s : (tensor<1x4x8xi8>, tensor<1x8x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<1x4x4xi32>
  return %0, %1 : tensor<4x8xi32>, tensor<1x4x4xi32>
}
