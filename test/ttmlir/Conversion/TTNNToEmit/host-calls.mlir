// RUN: rm -rf %t && mkdir %t
// RUN: ttmlir-opt %s --ttir-to-emitpy-pipeline="cpu-fallback=true tensor-directory=out" | ttmlir-translate --mlir-to-python --tensor-directory=%t/out | FileCheck %s
// RUN: ls %t/out | FileCheck %s --check-prefix=FILES
// RUN: ttmlir-opt %s --ttir-to-emitc-pipeline="cpu-fallback=true tensor-directory=out" | ttmlir-translate --mlir-to-cpp --tensor-directory=%t/out | FileCheck %s --check-prefix=CPP
// RUN: ttmlir-opt %s --ttir-to-emitpy-pipeline=cpu-fallback=true | not ttmlir-translate --mlir-to-python 2>&1 | FileCheck %s --check-prefix=NOWHERE

// What the host computes is a call of the library next to the program, which says what it gives.
// CHECK: TENSORS = Path(__file__).parent / "out"
// CHECK: def f(arg0, device):
// CHECK: ttnn.host_call(
// CHECK-NEXT: TENSORS / "host_functions.so",
// CHECK-NEXT: "cpu_hoisted_fallback",
// CHECK-NEXT: [arg0],
// CHECK-NEXT: [
// CHECK-NEXT: ttnn.HostResult([2, 3], ttnn.float32, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
// CHECK-NEXT: ttnn.HostResult([2, 3], ttnn.int32, ttnn.TILE_LAYOUT, ttnn.DRAM_MEMORY_CONFIG),
// CHECK-NEXT: ],
// CHECK-NEXT: device,
// CHECK-NEXT: )
// FILES: host_functions.so
// CPP: #include <ttnn/host_call.hpp>
// CPP: ttnn::host_call<2>(
// CPP: ttnn::HostResult{{{}}{2, 3}, ttnn::DataType::FLOAT32
// NOWHERE: the program reads 1 constants, or code of the host, from files; say with --tensor-directory where to write them
func.func @f(%a: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %x = math.absf %a : tensor<2x3xf32>
  %y = arith.fptosi %x : tensor<2x3xf32> to tensor<2x3xi32>
  return %x, %y : tensor<2x3xf32>, tensor<2x3xi32>
}
