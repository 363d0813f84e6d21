// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --device-program | FileCheck %s

// Computations in a row, of arguments, of what another one gave, and of a constant.
// CHECK-LABEL: module @row
// CHECK-NOT: sdy.
// CHECK-NOT: ttcore.
// CHECK: func.func public @main(%arg0: tensor<4xf32> {mhlo.sharding = "{devices=[2]0,1}"}) -> (tensor<4xf32> {jax.result_info = "result"})
// CHECK-NEXT: %[[A:.*]] = stablehlo.sine %arg0 : tensor<4xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.multiply %[[A]], %[[C]] : tensor<4xf32>
// CHECK-NEXT: return %[[B]] : tensor<4xf32>
module @row attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%a: tensor<8xf32> {mhlo.sharding = "{devices=[2]0,1}", ttcore.shard_status = #ttcore.shard_status<presharded>}) -> (tensor<8xf32> {jax.result_info = "result", ttcore.shard_status = #ttcore.shard_status<presharded>}) {
    %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>) {
      %3 = stablehlo.sine %b : tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>) -> tensor<8xf32>
    %cst = stablehlo.constant dense<2.0> : tensor<8xf32>
    %1 = sdy.manual_computation(%0, %cst) in_shardings=[<@mesh, [{"x"}]>, <@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<4xf32>, %c: tensor<4xf32>) {
      %3 = stablehlo.multiply %b, %c : tensor<4xf32>
      sdy.return %3 : tensor<4xf32>
    } : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
    return %1 : tensor<8xf32>
  }
}

// -----

module @parts_of_a_constant {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main() -> tensor<2xf32> {
    %cst = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
    // expected-error @+1 {{takes parts of operand 0, of type 'tensor<2xf32>', which is neither an argument nor the same everywhere}}
    %1 = sdy.manual_computation(%cst) in_shardings=[<@mesh, [{"x"}]>] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%b: tensor<1xf32>) {
      sdy.return %b : tensor<1xf32>
    } : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
