// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline --mlir-print-debuginfo | FileCheck %s --check-prefix=LOC
// RUN: ttmlir-opt %s --stablehlo-to-ttir-pipeline=enable-aggressive-simplification=false | FileCheck %s --check-prefix=ASIS

// CHECK:      module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
// CHECK-NEXT:   ttcore.device_module {
// CHECK-NEXT:     builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x1>]>} {
// CHECK-NEXT:       func.func @modela(%[[A:.*]]: tensor<32x32xf32>, %[[B:.*]]: tensor<32x32xf32>) -> tensor<32x32xf32> {
// CHECK-NEXT:         %[[SUM:.*]] = "ttir.add"(%[[A]], %[[B]]) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
// CHECK-NEXT:         return %[[SUM]] : tensor<32x32xf32>
// CHECK-NEXT:       }
// CHECK-NEXT:     }
// CHECK-NEXT:   }
// CHECK-NEXT: }

// Ops keep the number that they have in the source.
// LOC: "ttir.add"{{.*}} loc(#[[LOC:.*]])
// LOC: #[[LOC]] = loc(fused<1 : i64>

// ASIS: "ttir.abs"
module {
  sdy.mesh @mesh = <["x"=1, "y"=1]>
  func.func @modela(%arg0: tensor<32x32xf32>, %arg1: tensor<32x32xf32>) -> tensor<32x32xf32> {
    %unused = stablehlo.abs %arg0 : tensor<32x32xf32>
    %0 = stablehlo.add %arg0, %arg1 : tensor<32x32xf32>
    return %0 : tensor<32x32xf32>
  }
}
