// RUN: ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline="pipeline-stages=3 micro-batches=2" | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline="pipeline-stages=3 mesh-shape=6,1" | FileCheck %s --check-prefix=ROWS
// RUN: ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline="pipeline-stages=1" | FileCheck %s --check-prefix=WHOLE
// RUN: ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline="pipeline-stages=3 micro-batches=2" | ttmlir-opt --split-input-file --ttnn-pipeline-stages="num-stages=3" | FileCheck %s

// The first product is the slowest op, so it has a stage to itself. What it makes is used by both others.
// CHECK-LABEL: func.func @main(
// CHECK-SAME: %[[X:.*]]: tensor<32x512xf32{{.*}} {ttcore.micro_batch}, %[[W:[a-z0-9]*]]: tensor<512x512xf32
// CHECK-SAME: -> (tensor<32x512xf32{{.*}} {ttcore.micro_batch})
// CHECK-SAME: ttcore.micro_batches = 2 : i64, ttcore.stages_mesh = array<i64: 1, 3>
// CHECK-NEXT: %[[A:.*]] = call @main_stage_0(%[[X]], %[[W]]) {ttcore.mesh_offset = array<i64: 0, 0>}
// CHECK-NEXT: %[[B:.*]] = call @main_stage_1(%[[A]]) {ttcore.mesh_offset = array<i64: 0, 1>}
// CHECK-NEXT: %[[C:.*]] = call @main_stage_2({{.*}}) {ttcore.mesh_offset = array<i64: 0, 2>}
// CHECK-NEXT: return %[[C]]
// CHECK: func.func private @main_stage_0
// CHECK-NEXT: "ttnn.matmul"
// CHECK-NEXT: return
// CHECK: func.func private @main_stage_1
// CHECK-NOT: "ttnn.matmul"
// CHECK: func.func private @main_stage_2
// CHECK: "ttnn.add"

// ROWS: ttcore.stages_mesh = array<i64: 6, 1>
// ROWS: call @main_stage_0({{.*}}) {ttcore.mesh_offset = array<i64: 0, 0>}
// ROWS-NEXT: call @main_stage_1({{.*}}) {ttcore.mesh_offset = array<i64: 2, 0>}
// ROWS-NEXT: call @main_stage_2({{.*}}) {ttcore.mesh_offset = array<i64: 4, 0>}

// WHOLE-LABEL: func.func @main(
// WHOLE-NOT: call
func.func @main(%x: tensor<64x512xf32>, %w: tensor<512x512xf32>) -> tensor<64x512xf32> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<64x512xf32>, tensor<512x512xf32>) -> tensor<64x512xf32>
  %1 = "ttir.exp"(%0) : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %2 = "ttir.softmax"(%1) <{dimension = 1 : si32}> : (tensor<64x512xf32>) -> tensor<64x512xf32>
  %3 = "ttir.add"(%2, %0) : (tensor<64x512xf32>, tensor<64x512xf32>) -> tensor<64x512xf32>
  return %3 : tensor<64x512xf32>
}

// -----

// Weights are cached by the stage that uses them.
// CHECK-LABEL: func.func @parameters(
// CHECK: call @parameters_stage_0
// CHECK-NEXT: call @parameters_stage_1
// CHECK-NEXT: call @parameters_stage_2
// CHECK: func.func private @parameters_stage_0
// CHECK-NOT: load_cached
// CHECK: func.func private @parameters_stage_{{[12]}}{{.*}}ttcore.argument_type<parameter>
// CHECK: ttcore.load_cached(@parameters_const_eval_0
func.func @parameters(%x: tensor<64x64xf32> {ttcore.argument_type = #ttcore.argument_type<input>},
                      %w: tensor<64x64xf32> {ttcore.argument_type = #ttcore.argument_type<parameter>}) -> tensor<64x64xf32> {
  %w2 = "ttir.exp"(%w) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "ttir.matmul"(%0, %w2) : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "ttir.softmax"(%1) <{dimension = 1 : si32}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
