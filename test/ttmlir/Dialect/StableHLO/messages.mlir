// RUN: ttmlir-opt %s | FileCheck %s

// CHECK-LABEL: @send
func.func @send(%x: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK: "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}>
  %0 = "stablehlo.send"(%x, %t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 2>, is_host_transfer = true}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// CHECK-LABEL: @recv
func.func @recv(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
  // CHECK: "stablehlo.recv"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}>
  %0:2 = "stablehlo.recv"(%t) <{channel_handle = #stablehlo.channel_handle<handle = 5, type = 3>, is_host_transfer = true}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<2xf32>, !stablehlo.token
}

// CHECK-LABEL: @infeed
func.func @infeed(%t: !stablehlo.token) -> (tensor<2xf32>, !stablehlo.token) {
  // CHECK: "stablehlo.infeed"(%arg0) <{infeed_config = "a", layout = {{\[}}[0]]}>
  %0:2 = "stablehlo.infeed"(%t) <{infeed_config = "a", layout = [[0]]}> : (!stablehlo.token) -> (tensor<2xf32>, !stablehlo.token)
  return %0#0, %0#1 : tensor<2xf32>, !stablehlo.token
}

// CHECK-LABEL: @outfeed
func.func @outfeed(%x: tensor<2xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  // CHECK: "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = "a"}>
  %0 = "stablehlo.outfeed"(%x, %t) <{outfeed_config = "a"}> : (tensor<2xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token
}

// CHECK-LABEL: @async_start
func.func @async_start(%x: tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>> {
  // CHECK: "stablehlo.async_start"(%arg0) ({
  %0 = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xf32>):
    stablehlo.return %a : tensor<2xf32>
  }) : (tensor<2xf32>) -> !stablehlo.future<tensor<2xf32>>
  return %0 : !stablehlo.future<tensor<2xf32>>
}

// CHECK-LABEL: @async_done
func.func @async_done(%f: !stablehlo.future<tensor<2xf32>>) -> tensor<2xf32> {
  // CHECK: "stablehlo.async_done"(%arg0) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  %0 = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xf32>>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @replica_id
func.func @replica_id() -> tensor<ui32> {
  // CHECK: stablehlo.replica_id : tensor<ui32>
  %0 = stablehlo.replica_id : tensor<ui32>
  return %0 : tensor<ui32>
}

// CHECK-LABEL: @collective_reduce
func.func @collective_reduce(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: "stablehlo.collective_reduce"(%arg0) <{replica_groups = dense<{{.*}}> : tensor<1x2xi64>}>
  %0 = "stablehlo.collective_reduce"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @case
func.func @case(%i: tensor<i32>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: "stablehlo.case"(%arg0) ({
  %0 = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xf32>
  }, {
    stablehlo.return %y : tensor<2xf32>
  }) : (tensor<i32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @map
func.func @map(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: "stablehlo.map"(%arg0) <{dimensions = array<i64: 0>}> ({
  %0 = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @select_and_scatter
func.func @select_and_scatter(%x: tensor<4xf32>, %s: tensor<2xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // CHECK: "stablehlo.select_and_scatter"(%arg0, %arg1, %arg2) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}>
  %0 = "stablehlo.select_and_scatter"(%x, %s, %v) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %r = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %r : tensor<f32>
  }) : (tensor<4xf32>, tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @torch_index_select
func.func @torch_index_select(%x: tensor<5x3xf32>, %i: tensor<4xi32>) -> tensor<4x3xf32> {
  // CHECK: "stablehlo.torch_index_select"(%arg0, %arg1) <{batch_dims = 0 : i64, dim = 0 : i64}>
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<5x3xf32>, tensor<4xi32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: @unary_einsum
func.func @unary_einsum(%x: tensor<2x3xf32>) -> tensor<3x2xf32> {
  // CHECK: stablehlo.unary_einsum %arg0, config = "ij->ji" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %0 = stablehlo.unary_einsum %x, config = "ij->ji" : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}

// CHECK-LABEL: @dynamic_conv
func.func @dynamic_conv(%x: tensor<1x4x9x9xf32>, %w: tensor<6x4x3x3xf32>, %p: tensor<2x2xi64>) -> tensor<1x6x?x?xf32> {
  // CHECK: "stablehlo.dynamic_conv"(%arg0, %arg1, %arg2)
  %0 = "stablehlo.dynamic_conv"(%x, %w, %p) <{batch_group_count = 1 : i64, feature_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]>}> : (tensor<1x4x9x9xf32>, tensor<6x4x3x3xf32>, tensor<2x2xi64>) -> tensor<1x6x?x?xf32>
  return %0 : tensor<1x6x?x?xf32>
}
