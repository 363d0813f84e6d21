// Modules inside of a module: those of device modules are lowered, others are errors of every pipeline.
// RUN: split-file %s %t
// RUN: not ttmlir-opt %t/two.mlir --stablehlo-to-ttir-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --stablehlo-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --stablehlo-spmd-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --chlo-pre-serialization-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --stablehlo-deserialize 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --sdy-import-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --sdy-propagation-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --sdy-export-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttir-to-ttnn-runtime-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttir-to-ttnn-common-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttir-to-ttmetal-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttir-to-emitc-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttir-to-emitpy-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttnn-common-to-runtime-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttnn-common-to-emitc-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --ttnn-common-to-emitpy-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --recover-structure-xla-torch-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --d2m-fe-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --d2m-be-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --d2m-to-ttmetal-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/two.mlir --linalg-to-llvm-pipeline 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: not ttmlir-opt %t/deep.mlir --ttir-to-ttnn-backend-pipeline 2>&1 | FileCheck %s --check-prefix=DEEP
// RUN: not ttmlir-opt %t/device.mlir --sdy-propagation-pipeline 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: not ttmlir-opt %t/device.mlir --d2m-be-pipeline 2>&1 | FileCheck %s --check-prefix=FLAT
// RUN: ttmlir-opt %t/device.mlir --stablehlo-to-ttir-pipeline | FileCheck %s --check-prefix=DEVICE
// RUN: ttmlir-opt %t/ttnn.mlir --ttnn-common-to-emitc-pipeline | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=EMITC
// RUN: ttmlir-opt %t/ttnn.mlir --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=EMITPY

// TWO: error: module @a is inside of another one, of which only its own functions are lowered; pass each module by itself
//--- two.mlir
module @a { func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }
module @b { func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }

// DEEP: error: module @inner is inside of another one
//--- deep.mlir
module {
  ttcore.device_module {
    builtin.module {
      module @inner { func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> } }
    }
  }
}

// FLAT: error: 'ttcore.device_module' holds a module, and only functions of the outermost one are lowered here; run ttcore-unwrap-device-module before
// DEVICE: ttcore.device_module
// DEVICE: "ttir.abs"
// DEVICE-NOT: stablehlo
//--- device.mlir
module {
  ttcore.device_module {
    builtin.module {
      func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
        %0 = stablehlo.abs %x : tensor<4xf32>
        return %0 : tensor<4xf32>
      }
    }
  }
}

// EMITC-NOT: device_module
// EMITC: ttnn::abs(
// EMITPY-NOT: device_module
// EMITPY: ttnn.abs(
//--- ttnn.mlir
#dram = #ttnn.buffer_type<dram>
#layout = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
module {
  ttcore.device_module {
    builtin.module {
      func.func @f(%x: tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout> {
        %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #layout>) -> tensor<32x32xf32, #layout>
        return %0 : tensor<32x32xf32, #layout>
      }
    }
  }
}
