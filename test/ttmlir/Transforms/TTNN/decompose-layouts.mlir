// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-decompose-layouts | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-decompose-layouts --ttnn-decompose-layouts | FileCheck %s
// RUN: not ttmlir-opt %s --ttnn-decompose-layouts 2>&1 | FileCheck %s --check-prefix=NODEVICE

// NODEVICE: error: 'ttnn.to_layout' op needs a device but the module has none; run ttcore-register-device first

#dram = #ttnn.buffer_type<dram>
#host = #ttnn.buffer_type<system_memory>
#host_rows = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<64x96xf32, #host>>
#dram_f32 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#dram_bfp = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<2x3x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
#l1_bfp = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <2x1>, memref<1x3x!ttcore.tile<32x32, bfp_bf8>, #ttnn.buffer_type<l1>>, <height_sharded>, core_ranges = <[#ttnn.core_range<(0,0), (1,0)>]>>

// CHECK-LABEL: func.func @in
// CHECK-NEXT: %[[DEVICE:.*]] = "ttnn.get_device"
// CHECK-NEXT: "ttnn.to_device"(%arg0, %[[DEVICE]])
// CHECK-NEXT: "ttnn.to_layout"
// CHECK-NEXT: "ttnn.typecast"{{.*}} -> tensor<64x96xbf16,
// CHECK-NEXT: "ttnn.to_memory_config"
// CHECK-NEXT: return
func.func @in(%x: tensor<64x96xf32, #host_rows>) -> tensor<64x96xbf16, #l1_bfp> {
  %0 = "ttnn.to_layout"(%x) : (tensor<64x96xf32, #host_rows>) -> tensor<64x96xbf16, #l1_bfp>
  return %0 : tensor<64x96xbf16, #l1_bfp>
}

// CHECK-LABEL: func.func @out
// CHECK-NEXT: "ttnn.typecast"
// CHECK-NEXT: "ttnn.to_layout"
// CHECK-NEXT: "ttnn.from_device"
// CHECK-NEXT: return
func.func @out(%x: tensor<64x96xbf16, #dram_bfp>) -> tensor<64x96xf32, #host_rows> {
  %0 = "ttnn.to_layout"(%x) : (tensor<64x96xbf16, #dram_bfp>) -> tensor<64x96xf32, #host_rows>
  return %0 : tensor<64x96xf32, #host_rows>
}

// CHECK-LABEL: func.func @same
// CHECK-NEXT: "ttnn.to_layout"
// CHECK-NEXT: return
func.func @same(%x: tensor<64x96xf32, #dram_f32>) -> tensor<64x96xf32, #dram_f32> {
  %0 = "ttnn.to_layout"(%x) : (tensor<64x96xf32, #dram_f32>) -> tensor<64x96xf32, #dram_f32>
  return %0 : tensor<64x96xf32, #dram_f32>
}
