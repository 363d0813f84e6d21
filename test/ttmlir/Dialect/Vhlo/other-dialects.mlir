// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo=allow-other-dialects=true | FileCheck %s
// RUN: ttmlir-opt %s --emit-portable-artifact | ttmlir-opt | diff - %t.mlir
// RUN: not ttmlir-opt %s --stablehlo-legalize-to-vhlo 2>&1 | FileCheck %s --check-prefix=REFUSED
// RUN: not ttmlir-opt %s --emit-portable-artifact=1.10.0 2>&1 | FileCheck %s --check-prefix=REFUSED
// REFUSED: error: 'sdy.mesh' is an op that a portable artifact cannot hold

sdy.mesh @mesh = <["x"=2, "y"=2]>

// An op of another dialect keeps its types, between casts; so does what is inside of it.
// CHECK: %[[A:.*]] = builtin.unrealized_conversion_cast %{{.*}} : !vhlo.tensor_v1<4x6x!vhlo.f32_v1> to tensor<4x6xf32>
// CHECK: sdy.manual_computation(%[[A]])
// CHECK: "vhlo.add_v1"
// CHECK: %[[SUM:.*]] = builtin.unrealized_conversion_cast
// CHECK: sdy.return %[[SUM]] : tensor<2x6xf32>
func.func @f(%a: tensor<4x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> tensor<4x6xf32> {
  %0 = sdy.manual_computation(%a) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%b: tensor<2x6xf32>) {
    %1 = stablehlo.add %b, %b : tensor<2x6xf32>
    sdy.return %1 : tensor<2x6xf32>
  } : (tensor<4x6xf32>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
