// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline -o %t.mlir
// RUN: ttmlir-translate --ttkernel-to-cpp %t.mlir | FileCheck %s --check-prefix=CPP
// RUN: ttmlir-translate --ttmetal-to-flatbuffer %t.mlir -o %t.ttm
// RUN: head -c 12 %t.ttm | tail -c 4 | FileCheck %s --check-prefix=IDENTIFIER
// RUN: not ttmlir-translate --ttmetal-to-flatbuffer %s 2>&1 | FileCheck %s --check-prefix=EARLY
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-be-pipeline -o %t3.mlir
// RUN: not ttmlir-translate --ttkernel-to-cpp %t3.mlir 2>&1 | FileCheck %s --check-prefix=KERNEL

// IDENTIFIER: TTM0
// EARLY: module has no ttcore.device @default_device; run ttcore-register-device first
// KERNEL: cannot be written as C++; run ttir-to-ttmetal-pipeline first

// CPP-LABEL: // datamovement_kernel0
// CPP-NEXT: #include "dataflow_api.h"
// CPP: void kernel_main() {
// CPP: get_compile_time_arg_val(0)
// CPP-LABEL: // compute_kernel5
// CPP-NEXT: #include "compute_kernel_api.h"
// CPP: namespace NAMESPACE {
// CPP-NEXT: void MAIN {
// CPP: copy_tile(
// CPP: clamp_tile_init();
// CPP-NEXT: clamp_tile(v{{[0-9]+}}, 0xbf800000u, 0x40c00000u);
// CPP-NEXT: typecast_tile_init<0u, 2u>();
// CPP-NEXT: typecast_tile<0u, 2u>(
// CPP: pack_tile<true>(
// CPP: {{^}}}
// CPP-NEXT: } // namespace NAMESPACE
module {
  func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xbf16> {
    %0 = "ttir.clamp_scalar"(%x) <{min = -1.0 : f32, max = 6.0 : f32}> : (tensor<32x32xf32>) -> tensor<32x32xf32>
    %1 = "ttir.typecast"(%0) : (tensor<32x32xf32>) -> tensor<32x32xbf16>
    return %1 : tensor<32x32xbf16>
  }
}
