// What a version has not is said by an older op, where that says the same, and comes back as it was.
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo --vhlo-to-version=target=0.9.0 | FileCheck %s --check-prefixes=CHECK,V0_9
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo --vhlo-to-version=target=1.9.0 | FileCheck %s --check-prefixes=CHECK,V1_9
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo --vhlo-to-version=target=1.9.7 | FileCheck %s --check-prefixes=CHECK,V1_9
// RUN: ttmlir-opt %s --stablehlo-legalize-to-vhlo --vhlo-to-version=target=0.9.0 --vhlo-to-version=target=1.20.0 --vhlo-legalize-to-stablehlo | diff - %t.mlir
// Versions that are written in bytecode of different formats.
// RUN: ttmlir-opt %s --emit-portable-artifact=0.9.0 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact=0.10.0 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact=0.12.0 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact=0.14.0 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact=0.15.0 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir
// RUN: ttmlir-opt %s --emit-portable-artifact=1.16.2 -o %t.bin && ttmlir-opt %t.bin | diff - %t.mlir

// CHECK-LABEL: sym_name = #vhlo.string_v1<"f">
func.func @f(%a: tensor<4x6xf32>, %i: tensor<3x1xi64>, %u: tensor<3x6xf32>) {
  // V0_9: "vhlo.exponential_v1"
  // V1_9: "vhlo.exponential_v2"
  %0 = stablehlo.exponential %a : tensor<4x6xf32>
  // CHECK: "vhlo.cosine_v1"(%{{.*}}) : (
  %1 = stablehlo.cosine %a : tensor<4x6xf32>
  // V0_9: "vhlo.gather_v1"
  // V0_9-NOT: batching
  // V1_9: "vhlo.gather_v2"
  %2 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>} : (tensor<4x6xf32>, tensor<3x1xi64>) -> tensor<3x6xf32>
  // V0_9: "vhlo.all_gather_v1"
  // V1_9: "vhlo.all_gather_v2"
  %3 = "stablehlo.all_gather"(%a) {all_gather_dim = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>} : (tensor<4x6xf32>) -> tensor<4x12xf32>
  // CHECK: "vhlo.custom_call_v1"
  // CHECK-NOT: result_tilings
  %4 = stablehlo.custom_call @target(%a) : (tensor<4x6xf32>) -> tensor<4x6xf32>
  // CHECK: "vhlo.return_v1"
  return
}
