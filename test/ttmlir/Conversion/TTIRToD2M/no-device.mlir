// RUN: not ttmlir-opt %s --ttir-to-d2m 2>&1 | FileCheck %s

// CHECK: module has no ttcore.device @default_device; run ttcore-register-device first
module {
  func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
    return %x : tensor<32x32xf32>
  }
}
