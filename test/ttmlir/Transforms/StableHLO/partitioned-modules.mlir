// RUN: ttmlir-opt %s --split-input-file --stablehlo-spmd-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --stablehlo-spmd-pipeline --device-program | FileCheck %s --check-prefix=DEVICE

// What JAX hands over, with everything that Shardy has; what mutations of texts begin with.
// CHECK: module @everything_of_shardy
// CHECK: sdy.manual_computation
// CHECK: "stablehlo.all_reduce"
// DEVICE: module @everything_of_shardy
// DEVICE-NOT: sdy.
// DEVICE: func.func public @main(%arg0: tensor<4x4xf32>
module @everything_of_shardy attributes {mhlo.num_partitions = 8 : i32} {
sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @e = <[]>
sdy.mesh @one = <[], device_ids=[0]>
func.func public @main(%x: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}, %y: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}, {}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}], unreduced={"y"}>]>} : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = sdy.manual_computation(%0, %x) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%a: tensor<4x8xf32>, %b: tensor<4x16xf32>) {
    %2 = stablehlo.tanh %a : tensor<4x8xf32>
    sdy.return %2 : tensor<4x8xf32>
  } : (tensor<8x8xf32>, tensor<8x16xf32>) -> tensor<8x8xf32>
  %3 = sdy.sharding_constraint %1 <@e, [{?}, {?}]> : tensor<8x8xf32>
  %4 = sdy.reshard %3 <@mesh, [{"y":(1)2}, {}], replicated={"x"}> : tensor<8x8xf32>
  sdy.sharding_group %4 group_id=3 : tensor<8x8xf32>
  %5 = sdy.propagation_barrier %4 allowed_direction=FORWARD : tensor<8x8xf32>
  %6 = func.call @g(%5) : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %6 : tensor<8x8xf32>
}
func.func private @g(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = stablehlo.reverse %x, dims = [0] : tensor<8x8xf32>
  %1 = stablehlo.reshape %0 : (tensor<8x8xf32>) -> tensor<2x4x8xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x4x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
}

// -----

// CHECK: module @tiles_of_gspmd
// CHECK: sdy.manual_computation
// DEVICE: module @tiles_of_gspmd
// DEVICE: func.func public @main(%arg0: tensor<4x4xf32>
module @tiles_of_gspmd attributes {mhlo.num_partitions = 8 : i32} {
func.func public @main(%x: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,4]<=[8]}"}, %y: tensor<16x8xf32> {mhlo.sharding = "{devices=[4,1,2]<=[2,4]T(1,0) last_tile_dim_replicate}"}) -> (tensor<8x8xf32> {mhlo.sharding = "{replicated}"}) {
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x8xf32>) -> tensor<8x8xf32>
  %1 = stablehlo.custom_call @Sharding(%0) {mhlo.sharding = "{devices=[2,4]0,1,2,3,4,5,6,7}"} : (tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
}
