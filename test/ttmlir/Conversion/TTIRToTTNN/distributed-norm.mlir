// RUN: ttmlir-opt %s --ttcore-register-device="mesh-shape=2,4" --ttnn-layout --convert-ttir-to-ttnn | FileCheck %s

// CHECK-LABEL: @norms
// CHECK: %[[D:.*]] = "ttnn.get_device"
// CHECK: %[[X:.*]] = "ttnn.distributed_layer_norm"(%arg0, %arg1, %arg1, %arg0, %[[D]]) <{cluster_axis = 1 : ui32, epsilon = 9.99999974E-6 : f32, operandSegmentSizes = array<i32: 1, 1, 1, 1, 1>}>
// CHECK: "ttnn.distributed_rms_norm"(%[[X]], %arg0, %[[D]]) <{cluster_axis = 0 : ui32, epsilon = 9.99999997E-7 : f32, operandSegmentSizes = array<i32: 1, 0, 1, 0, 0, 1>}>
func.func @norms(%x: tensor<4x32x64xbf16>, %w: tensor<64xbf16>) -> tensor<4x32x64xbf16> {
  %0 = "ttir.distributed_layer_norm"(%x, %w, %w, %x) <{cluster_axis = 1 : ui32, operandSegmentSizes = array<i32: 1, 1, 1, 1>}> : (tensor<4x32x64xbf16>, tensor<64xbf16>, tensor<64xbf16>, tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16>
  %1 = "ttir.distributed_rms_norm"(%0, %x) <{cluster_axis = 0 : ui32, epsilon = 1.0e-6 : f32, operandSegmentSizes = array<i32: 1, 0, 1>}> : (tensor<4x32x64xbf16>, tensor<4x32x64xbf16>) -> tensor<4x32x64xbf16>
  return %1 : tensor<4x32x64xbf16>
}
