// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-runtime-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttcore-wrap-device-module --ttir-to-ttnn-backend-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline -o %t.once
// RUN: ttmlir-opt %t.once --ttir-to-ttnn-backend-pipeline -o %t.twice
// RUN: diff %t.once %t.twice
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=target-format=bfp_bf8 | FileCheck %s --check-prefix=BFP
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=experimental-weight-dtype=bfp_bf4 | FileCheck %s --check-prefix=WEIGHTS
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=enable-fusing-pass=false | FileCheck %s --check-prefix=UNFUSED
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="argument-types=net=input,parameter,parameter,parameter,parameter target-format=bf16" | FileCheck %s --check-prefix=ONCE
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="argument-types=net=input,parameter,parameter,parameter,parameter target-format=bf16 enable-const-eval=false" | FileCheck %s --check-prefix=ALWAYS
// RUN: not ttmlir-opt %s --ttir-to-ttnn-backend-pipeline=target-format=f99 2>&1 | FileCheck %s --check-prefix=BAD

// BAD: error: target-format 'f99' is not a float format
// BFP-COUNT-3: bfp_bf8
// UNFUSED: "ttnn.conv2d"
// UNFUSED: "ttnn.relu"
// ONCE: func.func @net
// ONCE: "ttnn.typecast"(%arg0)
// ONCE-COUNT-4: ttcore.load_cached(@net_const_eval_
// ONCE: func.func private @net_const_eval_0
// ALWAYS: "ttnn.typecast"(%arg1)
// ALWAYS-NOT: load_cached
// WEIGHTS: bfp_bf4
// CHECK: module attributes {ttcore.system_desc = #system_desc}
// CHECK-NEXT: ttcore.device @default_device
// CHECK-NEXT: func.func @net(%arg0: tensor<2x8x8x3xf32, #{{.*}}>
// CHECK: "ttnn.get_device"
// CHECK: "ttnn.conv2d"{{.*}}activation = <op_type = relu>
// CHECK: "ttnn.max_pool2d"
// CHECK: "ttnn.linear"
// CHECK: "ttnn.softmax"
// CHECK-NEXT: "ttnn.deallocate"
// CHECK-NEXT: return
// CHECK-NOT: func.func
func.func @net(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<1x1x1x4xf32>, %fc: tensor<64x10xf32>, %fb: tensor<10xf32>) -> tensor<2x10xf32> {
  %0 = "ttir.conv2d"(%x, %w, %b) <{dilation = 1 : i32, groups = 1 : i32, padding = 1 : i32, stride = 1 : i32}> : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<1x1x1x4xf32>) -> tensor<2x8x8x4xf32>
  %1 = "ttir.relu"(%0) : (tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
  %2 = "ttir.max_pool2d"(%1) <{ceil_mode = false, dilation = 1 : i32, kernel = 2 : i32, padding = 0 : i32, stride = 2 : i32}> : (tensor<2x8x8x4xf32>) -> tensor<2x4x4x4xf32>
  %3 = "ttir.reshape"(%2) <{shape = [2 : i32, 64 : i32]}> : (tensor<2x4x4x4xf32>) -> tensor<2x64xf32>
  %4 = "ttir.linear"(%3, %fc, %fb) <{transpose_a = false, transpose_b = false}> : (tensor<2x64xf32>, tensor<64x10xf32>, tensor<10xf32>) -> tensor<2x10xf32>
  %5 = call @probabilities(%4) : (tensor<2x10xf32>) -> tensor<2x10xf32>
  return %5 : tensor<2x10xf32>
}
func.func private @probabilities(%x: tensor<2x10xf32>) -> tensor<2x10xf32> {
  %0 = "ttir.softmax"(%x) <{dimension = 1 : si32}> : (tensor<2x10xf32>) -> tensor<2x10xf32>
  return %0 : tensor<2x10xf32>
}
