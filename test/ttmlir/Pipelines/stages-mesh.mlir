// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="pipeline-stages=2 mesh-shape=2,2" | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="pipeline-stages=2 mesh-shape=1,4" | FileCheck %s --check-prefix=COLUMNS
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="pipeline-stages=3 mesh-shape=2,3" 2>&1 | FileCheck %s --check-prefix=STAGE
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="mesh-shape=2,1" 2>&1 | FileCheck %s --check-prefix=WHOLE

// Collectives go along the axes by which the program was split: a stage is a row of 1x2, not a column.
// CHECK: call @main_stage_0({{.*}}) {ttcore.mesh_offset = array<i64: 0, 0>}
// CHECK-NEXT: call @main_stage_1({{.*}}) {ttcore.mesh_offset = array<i64: 1, 0>}
// COLUMNS: call @main_stage_1({{.*}}) {ttcore.mesh_offset = array<i64: 0, 2>}
// STAGE: error: the module is for a mesh of 1x2, but a stage of 3 has 2x1 of the mesh-shape 2x3
// WHOLE: error: the module is for a mesh of 1x2, but mesh-shape is 2x1
module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
  func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
    %0 = "ttir.softmax"(%x) <{dimension = 1 : si32}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %1 = "ttir.all_reduce"(%0) <{cluster_axis = 1 : ui32, reduce_type = #ttcore.reduce_type<sum>}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    %2 = "ttir.softmax"(%1) <{dimension = 0 : si32}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
    return %2 : tensor<64x64xf32>
  }
}
