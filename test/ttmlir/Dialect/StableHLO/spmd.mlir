// RUN: ttmlir-opt --stablehlo-spmd-pipeline --split-input-file --verify-diagnostics %s | FileCheck %s

// A computation that is manual along all axes lies between ops that are partitioned.
// CHECK-LABEL: @mixed
// CHECK: func.func public @main
// CHECK-SAME: mhlo.sharding = "{devices=[2,2]0,1,2,3}"
// CHECK-SAME: ttcore.local_shape = #ttcore<local_shape local_shape = tensor<4x8xf32>>
// CHECK-SAME: mhlo.sharding = "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}"
// CHECK: sdy.manual_computation({{.*}}) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings={{.*}} manual_axes={"x", "y"} (%{{.*}}: tensor<4x8xf32>)
// CHECK-NOT: sdy.manual_computation
// CHECK: stablehlo.multiply {{.*}} : tensor<4x8xf32>
// CHECK: stablehlo.all_reduce
// CHECK-SAME: dense<{{\[\[}}0, 2], [1, 3]]>
// CHECK: stablehlo.add {{.*}} : tensor<4x8xf32>
module @mixed attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x16xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y"}]>}) -> tensor<4x16xf32> {
    %0 = stablehlo.multiply %a, %a : tensor<8x16xf32>
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{}, {"y"}]>] manual_axes={"x", "y"} (%b: tensor<4x8xf32>) {
      %3 = "stablehlo.all_reduce"(%b) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
      ^bb0(%c: tensor<f32>, %d: tensor<f32>):
        %4 = stablehlo.add %c, %d : tensor<f32>
        stablehlo.return %4 : tensor<f32>
      }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
      sdy.return %3 : tensor<4x8xf32>
    } : (tensor<8x16xf32>) -> tensor<4x16xf32>
    %2 = stablehlo.add %1, %1 : tensor<4x16xf32>
    return %2 : tensor<4x16xf32>
  }
}

// -----

// Two meshes over the same devices are read as one of the axes that both share, and the mesh without axes as it, too.
// CHECK-LABEL: @meshes
// CHECK: sdy.mesh @devices = <["axis_0"=2, "axis_1"=2]>
// CHECK-NOT: sdy.mesh
// CHECK: mhlo.sharding = "{devices=[4]0,1,2,3}"
// CHECK-SAME: mhlo.sharding = "{devices=[2,2]0,2,1,3 last_tile_dim_replicate}"
// CHECK-SAME: mhlo.sharding = "{replicated}"
module @meshes attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @row = <["d"=4]>
  sdy.mesh @square = <["x"=2, "y"=2]>
  sdy.mesh @none = <[]>
  func.func public @main(%a: tensor<8xf32> {sdy.sharding = #sdy.sharding<@row, [{"d"}]>},
                         %b: tensor<8xf32> {sdy.sharding = #sdy.sharding<@square, [{"y"}]>},
                         %c: tensor<8xf32> {sdy.sharding = #sdy.sharding<@none, [{}]>}) -> tensor<8xf32> {
    %0 = stablehlo.add %a, %b : tensor<8xf32>
    %1 = stablehlo.add %0, %c : tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// Calls are inlined in loops, and what a loop carries in parts is gathered where it is needed whole.
// CHECK-LABEL: @loop
// CHECK: stablehlo.while
// CHECK-SAME: tensor<4x4xf32>
// CHECK-NOT: call
// CHECK: stablehlo.all_gather
// CHECK: stablehlo.dynamic_slice {{.*}} sizes = [1, 4]
module @loop attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<8x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c, %v = %a) : tensor<i32>, tensor<8x4xf32>
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1:2 = func.call @turn(%i, %v) : (tensor<i32>, tensor<8x4xf32>) -> (tensor<i32>, tensor<8x4xf32>)
      stablehlo.return %1#0, %1#1 : tensor<i32>, tensor<8x4xf32>
    }
    return %0#1 : tensor<8x4xf32>
  }
  func.func private @turn(%i: tensor<i32>, %v: tensor<8x4xf32>) -> (tensor<i32>, tensor<8x4xf32>) {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %row = stablehlo.dynamic_slice %v, %i, %zero, sizes = [1, 4] : (tensor<8x4xf32>, tensor<i32>, tensor<i32>) -> tensor<1x4xf32>
    %all = stablehlo.broadcast_in_dim %row, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<8x4xf32>
    %sum = stablehlo.add %v, %all : tensor<8x4xf32>
    %next = stablehlo.add %i, %one : tensor<i32>
    return %next, %sum : tensor<i32>, tensor<8x4xf32>
  }
}

// -----

module @few attributes {mhlo.num_partitions = 8 : i32} {
  // expected-error @+1 {{has 4 devices, and the program has 8 partitions; expected a mesh of all of them}}
  sdy.mesh @mesh = <["x"=4]>
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

module @orders attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @a = <["x"=2]>
  // expected-error @+1 {{has the devices in another order than @a; expected one order in a program}}
  sdy.mesh @b = <["x"=2], device_ids=[1, 0]>
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// expected-error @+1 {{has no mhlo.num_partitions; expected the number of devices}}
module @unknown {
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

module @endless attributes {mhlo.num_partitions = 2 : i32} {
  // expected-error @+1 {{calls itself, and programs cannot}}
  func.func public @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    %0 = call @main(%a) : (tensor<8xf32>) -> tensor<8xf32>
    return %0 : tensor<8xf32>
  }
}

// -----

// GSPMD's tiles, and a function between full and local shapes.
// CHECK-LABEL: @gspmd
// CHECK: mhlo.sharding = "{devices=[2,2]0,1,2,3}"
// CHECK-SAME: mhlo.sharding = "{devices=[1,2,2]0,2,1,3 last_tile_dim_replicate}"
// CHECK: stablehlo.all_reduce
module @gspmd attributes {mhlo.num_partitions = 4 : i32} {
  func.func public @main(%a: tensor<8x16xf32> {mhlo.sharding = "{devices=[2,2]<=[4]}"}) -> (tensor<4x16xf32> {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"}) {
    %0 = stablehlo.custom_call @Sharding(%a) {mhlo.sharding = "{devices=[2,2]<=[4]}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    %1 = stablehlo.custom_call @SPMDFullToShardShape(%0) {mhlo.sharding = "{manual}"} : (tensor<8x16xf32>) -> tensor<4x8xf32>
    %2 = call @body(%1) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %3 = stablehlo.custom_call @Sharding(%2) {mhlo.sharding = "{manual}"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    %4 = stablehlo.custom_call @SPMDShardToFullShape(%3) {mhlo.sharding = "{devices=[1,2,2]<=[2,2]T(1,0) last_tile_dim_replicate}"} : (tensor<4x8xf32>) -> tensor<4x16xf32>
    return %4 : tensor<4x16xf32>
  }
  func.func private @body(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = "stablehlo.all_reduce"(%a) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>, use_global_device_ids}> ({
    ^bb0(%b: tensor<f32>, %c: tensor<f32>):
      %1 = stablehlo.add %b, %c : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}

// -----

module @zigzag attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error @+1 {{whose dimension 0 is not split along axes of a mesh of 4 devices in order}}
  func.func public @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[4]0,1,3,2}"}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

module @unread attributes {mhlo.num_partitions = 4 : i32} {
  // expected-error @+1 {{has mhlo.sharding {maximal device=0} for 'tensor<8xf32>'; expected {replicated}, or tiles of its dimensions on 4 devices}}
  func.func public @main(%a: tensor<8xf32> {mhlo.sharding = "{maximal device=0}"}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// expected-error @+1 {{has mhlo.num_partitions 2305843009213693951; expected 1 to 1024}}
module attributes {mhlo.num_partitions = 2305843009213693951 : i64} {
  func.func @main(%a: tensor<8xf32> {mhlo.sharding = "{replicated}"}) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// expected-error @+1 {{has mhlo.num_partitions 0; expected 1 to 1024}}
module attributes {mhlo.num_partitions = 0 : i64} {
  func.func @main(%a: tensor<8xf32>) -> tensor<8xf32> {
    return %a : tensor<8xf32>
  }
}

// -----

// What one computation gives, another takes as its second operand: the gradient of a computation whose argument has no
// influence on it. Only the number of an operand of `return` is that of a result.
// CHECK-LABEL: @computations_in_a_row
// CHECK: func.func public @main
// CHECK: %[[FIRST:.*]] = sdy.manual_computation()
// CHECK: sdy.manual_computation(%{{.*}}, %[[FIRST]])
module @computations_in_a_row attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main() -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) {
    %0 = sdy.manual_computation() in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} () {
      %2 = stablehlo.constant dense<2.0> : tensor<1xf32>
      sdy.return %2 : tensor<1xf32>
    } : () -> tensor<2xf32>
    %cst = stablehlo.constant dense<1.0> : tensor<8xf32>
    %1 = sdy.manual_computation(%cst, %0) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<4xf32>, %b: tensor<1xf32>) {
      %2 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<1xf32>) -> tensor<4xf32>
      %3 = stablehlo.multiply %a, %2 : tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>, tensor<2xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

// What is not linear in partial values cannot keep them.
module @exp attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    // expected-error @+1 {{'stablehlo.exponential' op does not give partial values along axis "x", which its result has in #sdy.sharding<@m, [{}, {}], unreduced={"x"}>; expected ones of a sum over that axis, or of operands that the op is linear in}}
    %1 = stablehlo.exponential %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

module @add_mixed attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    // expected-error @+1 {{'stablehlo.add' op does not give partial values along axis "x", which its result has in #sdy.sharding<@m, [{}, {}], unreduced={"x"}>; expected ones of a sum over that axis, or of operands that the op is linear in}}
    %1 = stablehlo.add %0, %c {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

module @scaled attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    // expected-error @+1 {{'stablehlo.multiply' op does not give partial values along axis "x", which its result has in #sdy.sharding<@m, [{}, {}], unreduced={"x"}>; expected ones of a sum over that axis, or of operands that the op is linear in}}
    %1 = stablehlo.multiply %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Each device has its own partial values, which come and go as they are.
// CHECK-LABEL: @argument
// CHECK-SAME: num_partitions = 2
// CHECK: func.func public @main(%{{.*}}: tensor<4x4xf32> {mhlo.sharding = "{unreduced}"
// CHECK-SAME: -> (tensor<4x4xf32> {mhlo.sharding = "{unreduced}"
// CHECK-NOT: stablehlo.all_reduce
// CHECK: stablehlo.negate
// CHECK-NOT: stablehlo.all_reduce
// CHECK: return
module @argument attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%c: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced={"x"}>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {}], unreduced={"x"}>}) {
    %1 = stablehlo.negate %c {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// CHECK-LABEL: @result
// CHECK: mhlo.sharding = "{replicated}"
// CHECK-SAME: -> (tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1,2,2]0,4,2,6,1,5,3,7 last_tile_dims={unreduced, replicated}}"
module @result attributes {mhlo.num_partitions = 8 : i32} {
  sdy.mesh @m = <["x"=2, "y"=2, "z"=2]>
  func.func public @main(%c: tensor<4x4xf32>) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"z"}, {}], unreduced={"y"}>}) {
    %1 = stablehlo.negate %c : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// Partial values are combined before an op whose result does not have them, whatever its sharding says.
// CHECK-LABEL: @combined_first
// CHECK: stablehlo.dot_general
// CHECK-NEXT: stablehlo.all_reduce
// CHECK: stablehlo.exponential
// CHECK-NOT: stablehlo.all_reduce
// CHECK: sdy.return
module @combined_first attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.exponential %0 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}]>]>} : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}

// -----

// What is linear keeps them: one exchange at the end.
// CHECK-LABEL: @kept
// CHECK-COUNT-2: stablehlo.dot_general
// CHECK-NEXT: stablehlo.subtract
// CHECK-NEXT: stablehlo.transpose
// CHECK-NEXT: stablehlo.all_reduce
// CHECK-NOT: stablehlo.all_reduce
module @kept attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}, %b: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>
    %1 = stablehlo.dot_general %b, %a, contracting_dims = [0] x [1] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<8x4xf32>, tensor<4x8xf32>) -> tensor<4x4xf32>
    %2 = stablehlo.subtract %0, %1 {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : tensor<4x4xf32>
    %3 = stablehlo.transpose %2, dims = [1, 0] {sdy.sharding = #sdy.sharding_per_value<[<@m, [{}, {}], unreduced={"x"}>]>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = sdy.sharding_constraint %3 <@m, [{}, {}]> : tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}

// -----

// A whole value as partial ones is that value on the first device, and zeros on the others.
// CHECK-LABEL: @made_partial
// CHECK: stablehlo.select
// CHECK: stablehlo.all_reduce
module @made_partial attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32>) -> tensor<4x8xf32> {
    %0 = sdy.sharding_constraint %a <@m, [{}, {}], unreduced={"x"}> : tensor<4x8xf32>
    %1 = sdy.sharding_constraint %0 <@m, [{}, {}]> : tensor<4x8xf32>
    return %1 : tensor<4x8xf32>
  }
}

// -----

// CHECK-LABEL: @made_partial_of_complex_numbers
// CHECK: stablehlo.constant dense<(0.000000e+00,0.000000e+00)> : tensor<4x8xcomplex<f32>>
// CHECK: stablehlo.select
module @made_partial_of_complex_numbers attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xcomplex<f32>>) -> tensor<4x8xcomplex<f32>> {
    %0 = sdy.sharding_constraint %a <@m, [{}, {}], unreduced={"x"}> : tensor<4x8xcomplex<f32>>
    %1 = sdy.sharding_constraint %0 <@m, [{}, {}]> : tensor<4x8xcomplex<f32>>
    return %1 : tensor<4x8xcomplex<f32>>
  }
}

// -----

// Named computations are inlined; their shardings are constraints.
// CHECK-LABEL: @named_computations
// CHECK: sdy.manual_computation
// CHECK-NOT: named_computation
// CHECK: stablehlo.add {{.*}} : tensor<2x4xf32>
// CHECK: stablehlo.multiply {{.*}} : tensor<4x2xf32>
module @named_computations attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    %0 = sdy.named_computation<"outer">(%a) (%b: tensor<4x4xf32>) {
      %1 = stablehlo.add %b, %b : tensor<4x4xf32>
      %2 = sdy.named_computation<"inner">(%1) in_shardings=[<@mesh, [{}, {"x"}]>] out_shardings=[<@mesh, [{}, {"x"}]>] (%c: tensor<4x4xf32>) {
        %3 = stablehlo.multiply %c, %c : tensor<4x4xf32>
        sdy.return %3 : tensor<4x4xf32>
      } : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

module @custom_rule attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}) -> tensor<4x4xf32> {
    // expected-error@+1 {{'stablehlo.custom_call' op cannot be computed in parts: operand 0 is split along dimension 0, which each device needs whole, by #sdy.sharding<@mesh, [{"x"}, {}]>; tensors of an op with a custom sharding rule are resharded by sdy.sharding_constraint only}}
    %0 = stablehlo.custom_call @foo(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=4} need_replication={i}, custom>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// -----

// What JAX asks for of a value, when the value has been made local.
// CHECK-LABEL: @inspected
// CHECK: stablehlo.custom_call @InspectSharding(%{{.*}}) {{.*}}mhlo.sharding = "{devices=[1,2]0,1}"{{.*}} : (tensor<4x4xf32>)
module @inspected attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @m = <["x"=2]>
  func.func public @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {"x"}]>}) -> tensor<4x8xf32> {
    %0 = stablehlo.tanh %a : tensor<4x8xf32>
    %1 = stablehlo.custom_call @InspectSharding(%0) {has_side_effect = true, backend_config = "name"} : (tensor<4x8xf32>) -> tensor<4x8xf32>
    return %0 : tensor<4x8xf32>
  }
}
