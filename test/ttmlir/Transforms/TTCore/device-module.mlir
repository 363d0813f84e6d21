// RUN: ttmlir-opt %s --ttcore-unwrap-device-module | FileCheck %s --check-prefix=PLAIN
// RUN: ttmlir-opt %s --ttcore-unwrap-device-module --ttcore-wrap-device-module --ttcore-wrap-device-module | FileCheck %s --check-prefix=WRAPPED

// PLAIN: module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
// PLAIN-NEXT: func.func @f
// PLAIN-NOT: module

// WRAPPED: module
// WRAPPED-NEXT: ttcore.device_module {
// WRAPPED-NEXT: builtin.module attributes {ttcore.meshes
// WRAPPED-NEXT: func.func @f
// WRAPPED-NOT: ttcore.device_module
module {
  ttcore.device_module {
    builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
      func.func @f() {
        return
      }
    }
  }
}
