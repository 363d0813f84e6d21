//===- Passes.td - passes on TTCore ops and on modules -----*- tablegen -*-===//

#ifndef TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_TD
#define TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def TTCoreRegisterDevicePass : Pass<"ttcore-register-device", "::mlir::ModuleOp"> {
  let summary = "Give the module a system description and a default device";
  let description = [{
    The system is that of `system-desc-path`, else a chip of `mock-system-desc-arch` for every device of the mesh. The
    mesh is `mesh-shape`, else the first of `ttcore.meshes`, else 1x1; one number is a row of devices. What the module
    already has stays.

    Before:
    ```mlir
    module {
    }
    ```
    After:
    ```mlir
    module attributes {ttcore.system_desc = #system_desc} {
      ttcore.device @default_device = <workerGrid = ..., meshShape = 1x1, chipIds = [0]>
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let options = [
    Option<"mockSystemDescArch", "mock-system-desc-arch", "::mlir::tt::ttcore::Arch",
           "::mlir::tt::ttcore::Arch::WormholeB0", "Chip of a system that no file describes",
           [{::llvm::cl::values(
              clEnumValN(::mlir::tt::ttcore::Arch::WormholeB0, "wormhole_b0", "Wormhole"),
              clEnumValN(::mlir::tt::ttcore::Arch::Blackhole, "blackhole", "Blackhole"),
              clEnumValN(::mlir::tt::ttcore::Arch::Quasar, "quasar", "Quasar"))}]>,
    Option<"systemDescPath", "system-desc-path", "std::string", "\"\"",
           "File with a #ttcore.system_desc attribute in text form">,
    ListOption<"meshShape", "mesh-shape", "int64_t", "Rows and columns of the mesh">,
    // Lists of enums do not parse: LLVM's list option asks a parser that knows no values.
    ListOption<"meshTopology", "mesh-topology", "std::string", "Links of each mesh axis: ring, linear or disabled">
  ];
}

def TTCoreWrapDeviceModulePass : Pass<"ttcore-wrap-device-module", "::mlir::ModuleOp"> {
  let summary = "Put the module's ops into a device module";
  let description = [{
    A module that holds a device module already is left as it is.

    Before:
    ```mlir
    module {
      func.func @f() { return }
    }
    ```
    After:
    ```mlir
    module {
      ttcore.device_module {
        builtin.module {
          func.func @f() { return }
        }
      }
    }
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
}

def TTCoreUnwrapDeviceModulePass : Pass<"ttcore-unwrap-device-module", "::mlir::ModuleOp"> {
  let summary = "Replace a device module by what it holds";
  let description = [{
    The inverse of `ttcore-wrap-device-module`. Attributes of the inner module that the outer one lacks move to it.
  }];
}

#endif // TTMLIR_DIALECT_TTCORE_TRANSFORMS_PASSES_TD
