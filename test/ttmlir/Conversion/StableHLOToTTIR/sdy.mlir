// RUN: ttmlir-opt %s --convert-sdy-to-ttcore --split-input-file | FileCheck %s --implicit-check-not=sdy.

// Meshes have two dimensions; a device alone is one of 1x1.
// CHECK: module attributes {ttcore.meshes = #ttcore.meshes<[<"grid" = 2x4>, <"line" = 1x8>, <"empty" = 1x1>]>}
module {
  sdy.mesh @grid = <["x"=2, "y"=4]>
  sdy.mesh @line = <["z"=8]>
  sdy.mesh @empty = <[]>
}

// -----

// What splits nothing goes, and regions are opened.
// CHECK: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>}
module {
  sdy.mesh @mesh = <["x"=1, "y"=1]>
  // CHECK: func.func @one_device(%[[A:.*]]: tensor<4x4xf32> {ttcore.argument_type = #ttcore.argument_type<input>}) -> tensor<4x4xf32> {
  func.func @one_device(%a: tensor<4x4xf32> {ttcore.argument_type = #ttcore.argument_type<input>, sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> (tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    // CHECK-NEXT: %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<4x4xf32>
    %c = sdy.constant dense<2.0> : tensor<4x4xf32>
    // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[A]], %[[C]] : tensor<4x4xf32>
    %0 = sdy.manual_computation(%a, %c) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x", "y"} (%p: tensor<4x4xf32>, %q: tensor<4x4xf32>) {
      %1 = stablehlo.multiply %p, %q {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}, {"y"}]>]>} : tensor<4x4xf32>
      %2 = sdy.named_computation<"same">(%1) (%r: tensor<4x4xf32>) {
        sdy.return %r : tensor<4x4xf32>
      } : (tensor<4x4xf32>) -> tensor<4x4xf32>
      sdy.return %2 : tensor<4x4xf32>
    } : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    // CHECK-NEXT: return %[[M]] : tensor<4x4xf32>
    %3 = sdy.sharding_constraint %0 <@mesh, [{"x"}, {"y"}]> : tensor<4x4xf32>
    sdy.sharding_group %3 group_id=0 : tensor<4x4xf32>
    %4 = sdy.all_gather [{"x"}, {}] %3 out_sharding=<@mesh, [{}, {"y"}]> : tensor<4x4xf32>
    return %4 : tensor<4x4xf32>
  }
}

// -----

// Copies on all devices of a mesh need no splitting.
// CHECK: ttcore.meshes = #ttcore.meshes<[<"other" = 1x1>, <"mesh" = 2x4>]>
module attributes {ttcore.meshes = #ttcore.meshes<[<"other" = 1x1>]>} {
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  // CHECK: func.func @copies(%{{.*}}: tensor<4xf32>) -> tensor<4xf32> {
  func.func @copies(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}], replicated={"x", "y"}>}) -> tensor<4xf32> {
    return %a : tensor<4xf32>
  }
}

// -----

// One device, whatever the axes are called.
// CHECK: module attributes {ttcore.meshes = #ttcore.meshes<[<"many" = 1x1>]>}
module {
  sdy.mesh @many = <["a"=1, "b"=1, "c"=1]>
}
