// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=2,2" | FileCheck %s --check-prefix=GRID
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="set-math-fidelity=LoFi" | FileCheck %s --check-prefix=LOFI
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="enable-multicast-inference=false" | FileCheck %s --check-prefix=UNICAST
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="global-data-format-target=bf16" | FileCheck %s --check-prefix=FORMAT
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="available-l1-addr-range=800000,1400000" | FileCheck %s --check-prefix=RANGE
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="force-spill-to-dram-if-legal=true" | FileCheck %s --check-prefix=SPILL
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1 num-stream-buffers=3" | FileCheck %s --check-prefix=STREAM
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1 num-stream-buffers=1" | FileCheck %s --check-prefix=ONE
// RUN: ttmlir-opt %s --d2m-fe-pipeline | FileCheck %s --check-prefix=FOLD
// RUN: ttmlir-opt %s --d2m-fe-pipeline="disable-tolayout-folding=true" | FileCheck %s --check-prefix=UNFOLD
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-be-pipeline --d2m-to-ttkernel-pre-emitc-pipeline | FileCheck %s --check-prefix=DST
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-be-pipeline --d2m-to-ttkernel-pre-emitc-pipeline="max-dst-physical-size-tiles=1" | FileCheck %s --check-prefix=DST1
// RUN: ttmlir-opt %s --d2m-fe-pipeline --d2m-be-pipeline --convert-d2m-to-ttmetal --d2m-to-ttkernel-pre-emitc-pipeline --d2m-emitc-pipeline > %t.parts
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline > %t.whole
// RUN: diff %t.parts %t.whole
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=9,8" 2>&1 | FileCheck %s --check-prefix=E1
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=4" 2>&1 | FileCheck %s --check-prefix=E2
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="num-stream-buffers=0" 2>&1 | FileCheck %s --check-prefix=E3
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="available-l1-addr-range=0,10" 2>&1 | FileCheck %s --check-prefix=E4
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="test-assume-l1-capacity=-1" 2>&1 | FileCheck %s --check-prefix=E5
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="test-assume-l1-capacity=120000" 2>&1 | FileCheck %s --check-prefix=E6
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="test-assume-l1-capacity=1" 2>&1 | FileCheck %s --check-prefix=E6

// E1: override-device-shape=9,8 is no grid of the device; expected rows and columns, 1,1 to 8,8
// E2: override-device-shape=4 is no grid of the device; expected rows and columns, 1,1 to 8,8
// E3: num-stream-buffers=0 is not between 1 and 64
// E4: available-l1-addr-range=0,10 is no range of L1; expected two addresses from {{[0-9]+}} to {{[0-9]+}}
// E5: test-assume-l1-capacity=-1 is not between 0 and the {{[0-9]+}} bytes of L1
// E6: does not fit in L1

// CHECK: #ttmetal.compute_config<@compute_kernel5, <0x0, 8x8>, {{.*}}, HiFi4
// CHECK: call_opaque "noc_async_write_multicast"
// GRID: #ttmetal.compute_config<@compute_kernel{{[0-9]+}}, <0x0, 2x2>
// GRID-NOT: <0x0, 8x8>
// LOFI: #ttmetal.compute_config<{{.*}}, LoFi
// LOFI-NOT: HiFi4
// UNICAST: call_opaque "noc_async_read"
// UNICAST-NOT: noc_async_write_multicast
// FORMAT: memref<8x8x2x2x!ttcore.tile<32x32, bf16>
// RANGE: address = 800000 : i64
// RANGE-NOT: address = {{[1-7]}}
// SPILL: ttmetal.enqueue_write_buffer %{{.*}}#dram>
// SPILL: call_opaque "get_noc_addr_from_bank_id"

// Buffers of four tiles.
// STREAM-LABEL: func.func @summed
// STREAM: memref.alloc() : memref<1x1x12x1x!ttcore.tile<32x32, f32>
// ONE-LABEL: func.func @summed
// ONE: memref.alloc() : memref<1x1x4x1x!ttcore.tile<32x32, f32>

// The rows of an argument are those that were written.
// FOLD-LABEL: func.func @transposed
// FOLD-NOT: d2m.tile_untilize_block
// FOLD: d2m.dma_read
// UNFOLD-LABEL: func.func @transposed
// UNFOLD: d2m.tile_untilize_block
// UNFOLD: d2m.dma_read

// DST-LABEL: func.func private @compute_kernel
// DST: ttkernel.experimental.matmul_block(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c2{{.*}}, %c2
// DST1-LABEL: func.func private @compute_kernel
// DST1: ttkernel.experimental.matmul_block(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %c1{{.*}}, %c1
func.func @product(%a: tensor<512x512xf32>, %b: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
func.func @summed(%a: tensor<32x96xf32>) -> tensor<32x1xf32> {
  %0 = "ttir.sum"(%a) <{dim_arg = [1 : i32], keep_dim = true}> : (tensor<32x96xf32>) -> tensor<32x1xf32>
  return %0 : tensor<32x1xf32>
}
func.func @transposed(%a: tensor<64x96xf32>) -> tensor<96x64xf32> {
  %0 = "ttir.permute"(%a) <{permutation = array<i64: 1, 0>}> : (tensor<64x96xf32>) -> tensor<96x64xf32>
  return %0 : tensor<96x64xf32>
}
