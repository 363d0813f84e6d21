// RUN: ttmlir-opt %s --ttcore-register-device=mesh-shape=2,4 --capture-mesh-shape --capture-mesh-shape | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-register-device --capture-mesh-shape | FileCheck %s --check-prefix=ONE
// RUN: ttmlir-opt %s --capture-mesh-shape | FileCheck %s --check-prefix=NONE
// A module without a device is written for the mesh that is noted; what is no mesh is not.
// RUN: sed 's/module {/module attributes {ttcore.device_mesh_shape = array<i64: 1, 2>} {/' %s | ttmlir-opt --convert-ttnn-to-emitpy | FileCheck %s --check-prefix=PYTHON
// RUN: sed 's/module {/module attributes {ttcore.device_mesh_shape = array<i64: 0>} {/' %s | ttmlir-opt --convert-ttnn-to-emitpy | FileCheck %s --check-prefix=DEFAULT
// CHECK: module attributes {{.*}}ttcore.device_mesh_shape = array<i64: 2, 4>
// ONE: module attributes {{.*}}ttcore.device_mesh_shape = array<i64: 1, 1>
// NONE-NOT: device_mesh_shape
// PYTHON: ttnn.MeshShape(1, 2)
// DEFAULT: ttnn.MeshShape(1, 1)
#dram = #ttnn.buffer_type<dram>
#l = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  func.func @model(%x: tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l> {
    %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #l>) -> tensor<32x32xf32, #l>
    return %0 : tensor<32x32xf32, #l>
  }
}
