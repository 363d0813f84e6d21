// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttir-to-ttnn-backend-pipeline="pipeline-stages=3 mesh-shape=1,3"
// RUN: not ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline="pipeline-stages=3 mesh-shape=1,4" 2>&1 | FileCheck %s --check-prefix=MESH
// RUN: not ttmlir-opt %s --split-input-file --ttir-to-ttnn-backend-pipeline="pipeline-stages=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not ttmlir-opt %s --split-input-file --ttir-to-emitpy-pipeline="micro-batches=2" 2>&1 | FileCheck %s --check-prefix=EMIT

// MESH: 'func.func' op is cut into 3 stages, but a mesh of 1x4 is not 3 times that of the program, 1x4
// NONE: 'func.func' op is cut into 0 stages, but expected 1 or more
// EMIT: 'func.func' op has stages or works on micro-batches, which only a flatbuffer says

// expected-error@+1 {{has 1 ops that can be cut into stages; expected at least 3, one for each stage}}
func.func @main(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %0 = "ttir.exp"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %0 : tensor<64x64xf32>
}

// -----

// expected-error@+1 {{result 1 is an argument; a stage gives what it computes}}
func.func @passed_on(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %0 = "ttir.exp"(%x) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %1 = "ttir.softmax"(%0) <{dimension = 1 : si32}> : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %2 = "ttir.tanh"(%1) : (tensor<64x64xf32>) -> tensor<64x64xf32>
  return %2, %x : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// expected-error@+1 {{argument 0 is changed in place, which a stage cannot do: it has a copy}}
func.func @cache(%cache: tensor<1x4x64x32xf32>, %x: tensor<1x4x1x32xf32>, %at: tensor<1xi32>) -> tensor<1x4x1x32xf32> {
  %y = "ttir.exp"(%x) : (tensor<1x4x1x32xf32>) -> tensor<1x4x1x32xf32>
  %z = "ttir.softmax"(%y) <{dimension = 1 : si32}> : (tensor<1x4x1x32xf32>) -> tensor<1x4x1x32xf32>
  "ttir.update_cache"(%cache, %z, %at) <{batch_offset = 0 : i32}> : (tensor<1x4x64x32xf32>, tensor<1x4x1x32xf32>, tensor<1xi32>) -> ()
  return %z : tensor<1x4x1x32xf32>
}
