// A device whose mesh has no axes is one chip, and a mesh of one axis is a row; of more axes than two is an error.
// RUN: split-file %s %t
// RUN: ttmlir-opt %t/none.mlir --ttnn-common-to-emitc-pipeline | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=NONE-CPP
// RUN: ttmlir-opt %t/none.mlir --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=NONE-PY
// RUN: ttmlir-opt %t/one.mlir --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=ONE
// RUN: ttmlir-opt %t/none.mlir --ttnn-common-to-runtime-pipeline | ttmlir-translate --ttnn-to-flatbuffer -o %t.ttnn
// RUN: not ttmlir-opt %t/three.mlir --ttnn-common-to-emitc-pipeline 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: not ttmlir-opt %t/three.mlir --ttnn-common-to-emitpy-pipeline 2>&1 | FileCheck %s --check-prefix=THREE
// NONE-CPP: ttnn::run_programs(1, 1)
// NONE-PY: ttnn.open_mesh_device(ttnn.MeshShape(1, 1)
// ONE: MESH_SHAPE = ttnn.MeshShape(1, 2)
// THREE: error: the mesh of the device has 3 axes; expected rows and columns

//--- none.mlir
#dram = #ttnn.buffer_type<dram>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8>, dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, 0, d0), meshShape = , chipIds = [0]>
  func.func @f(%x: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
    %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
    return %0 : tensor<32x32xf32, #layout>
  }
}

//--- one.mlir
#dram = #ttnn.buffer_type<dram>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8>, dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, 0, d0), meshShape = 2, chipIds = [0, 1]>
  func.func @f(%x: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
    %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
    return %0 : tensor<32x32xf32, #layout>
  }
}

//--- three.mlir
#dram = #ttnn.buffer_type<dram>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  ttcore.device @default_device = <workerGrid = #ttcore.grid<8x8>, dramGrid = #ttcore.grid<1x12>, l1Map = (d0, d1, d2)[s0] -> (0, d0, d1, d2 + s0), dramMap = (d0, d1, d2)[s0, s1, s2, s3, s4, s5, s6] -> (0, 0, 0, d0), meshShape = 1x1x2, chipIds = [0, 1]>
  func.func @f(%x: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
    %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
    return %0 : tensor<32x32xf32, #layout>
  }
}
