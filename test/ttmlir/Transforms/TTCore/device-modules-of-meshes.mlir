// RUN: ttmlir-opt %s --ttcore-unwrap-device-module --verify-diagnostics

module {
  ttcore.device_module {
    builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 1x2>]>} {
      func.func @f() {
        return
      }
    }
  }
  // expected-error@+1 {{is for #ttcore.meshes<[<"mesh" = 2x2>]>, but one before it for #ttcore.meshes<[<"mesh" = 1x2>]>; compile modules for different meshes by themselves}}
  ttcore.device_module {
    builtin.module attributes {ttcore.meshes = #ttcore.meshes<[<"mesh" = 2x2>]>} {
      func.func @g() {
        return
      }
    }
  }
}
