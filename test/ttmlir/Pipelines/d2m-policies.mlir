// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1" | FileCheck %s --check-prefix=BLOCKS
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 use-tile-matmul=true" | FileCheck %s --check-prefix=TILES
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 test-buffer-size-policy=min disable-l1-acc=true" | FileCheck %s --check-prefix=REGISTERS
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 test-buffer-size-policy=min" | FileCheck %s --check-prefix=PACKER
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1 test-buffer-size-policy=min" | FileCheck %s --check-prefix=ROWS
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1 test-buffer-size-policy=min matmul-interchange=1,0,2" | FileCheck %s --check-prefix=COLUMNS
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 force-compile-time-args=true" | FileCheck %s --check-prefix=COMPILED
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 default-input-memspace=dram" | FileCheck %s --check-prefix=INPUTS
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 default-output-memspace=dram" | FileCheck %s --check-prefix=OUTPUTS
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1" --d2m-allocate="stream-insert-policy=always" | FileCheck %s --check-prefix=ALWAYS
// RUN: ttmlir-opt %s --d2m-fe-pipeline="override-device-shape=1,1" --d2m-allocate | FileCheck %s --check-prefix=INFER
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 debug-d2m-coalescing-inference=true" 2>&1 | FileCheck %s --check-prefix=PIECES
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 default-input-memspace=dram use-tensor-accessor-dma=true" | FileCheck %s --check-prefix=ACCESSOR
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="override-device-shape=1,1 default-input-memspace=dram use-tensor-accessor-dma=true force-compile-time-args=true" | FileCheck %s --check-prefix=BEHIND
// RUN: ttmlir-opt %s --ttir-to-ttmetal-pipeline="use-tensor-accessor-dma=true" | FileCheck %s --check-prefix=L1
// RUN: ttmlir-opt %s --d2m-fe-pipeline | FileCheck %s --check-prefix=COLLAPSED
// RUN: ttmlir-opt %s --d2m-fe-pipeline="collapse-tensors-2d=false" | FileCheck %s --check-prefix=WHOLE
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="matmul-interchange=2,0,1" 2>&1 | FileCheck %s --check-prefix=E1
// RUN: not ttmlir-opt %s --ttir-to-ttmetal-pipeline="test-buffer-size-policy=bounded" 2>&1 | FileCheck %s --check-prefix=E2

// BLOCKS: call_opaque "experimental::matmul_block"
// BLOCKS-NOT: call_opaque "matmul_tiles"
// TILES: call_opaque "mm_init"
// TILES: call_opaque "matmul_tiles"
// TILES-NOT: experimental::matmul_block

// The packer adds in L1, or registers do.
// PACKER: call_opaque "pack_reconfig_l1_acc"
// REGISTERS-NOT: call_opaque "pack_reconfig_l1_acc"
// REGISTERS: call_opaque "add_binary_tile"

// Blocks of one tile: the outer loop is over 2 rows, or 3 columns.
// ROWS-LABEL: func.func @product
// ROWS: additionalArgs
// ROWS: scf.for %{{.*}} = %c0{{.*}} to %c2
// ROWS: scf.for %{{.*}} = %c0{{.*}} to %c3
// COLUMNS-LABEL: func.func @product
// COLUMNS: additionalArgs
// COLUMNS: scf.for %{{.*}} = %c0{{.*}} to %c3
// COLUMNS: scf.for %{{.*}} = %c0{{.*}} to %c2

// COMPILED-NOT: rt_args
// COMPILED: buffer_address
// COMPILED-NOT: get_common_arg_val

// INPUTS: ttmetal.enqueue_write_buffer %{{.*}}#dram>
// OUTPUTS-NOT: ttmetal.enqueue_write_buffer %{{.*}}#dram>
// OUTPUTS: ttmetal.enqueue_read_buffer %{{.*}}#dram>

// INFER-LABEL: func.func @chain
// INFER-NOT: d2m.remote_load
// INFER: return
// ALWAYS-LABEL: func.func @chain
// ALWAYS: d2m.remote_load
// ALWAYS: d2m.remote_store

// PIECES: remark: moves pieces of [[PIECE:[0-9]+]] of the {{[0-9]+}} elements of a row; an enumeration finds [[PIECE]]

// A page is the part of a core in DRAM; the arguments of accessors are the last ones, two each.
// ACCESSOR: <cb_port[1]>, <tensor_accessor_args[0]>]>, noc0>
// ACCESSOR: %[[ARGS:.*]] = emitc.call_opaque "TensorAccessorArgs"() {args = [], template_args = [#emitc.opaque<"2">]} : () -> !emitc.opaque<"auto">
// ACCESSOR: %[[ACCESSOR:.*]] = emitc.call_opaque "TensorAccessor"(%[[ARGS]],
// ACCESSOR: call_opaque "get_noc_addr"(%[[ACCESSOR]], {{.*}}) {args = [1 : index, 0 : index, 2 : index]}
// BEHIND: ct_args = [<cb_port[0]>, <cb_port[1]>, <buffer_address[0]>, <buffer_address[1]>, <buffer_address[2]>, <tensor_accessor_args[0]>]
// BEHIND: "TensorAccessorArgs"() {args = [], template_args = [#emitc.opaque<"5">]}
// L1-NOT: tensor_accessor_args
// L1-NOT: TensorAccessor

// 9 rows of tiles: two each for 5 cores, or the three of a matrix for 3 cores.
// COLLAPSED-LABEL: func.func @matrices
// COLLAPSED: memref<5x1x2x1x!ttcore.tile<32x32, f32>
// WHOLE-LABEL: func.func @matrices
// WHOLE: memref<3x1x3x1x!ttcore.tile<32x32, f32>

// E1: matmul-interchange=2,0,1 is no order of the loops of a product; expected 0,1,2 or 1,0,2
// E2: for the --test-buffer-size-policy option: 'bounded' is not possible; expected auto, min or max
func.func @product(%a: tensor<64x128xf32>, %b: tensor<128x96xf32>) -> tensor<64x96xf32> {
  %0 = "ttir.matmul"(%a, %b) : (tensor<64x128xf32>, tensor<128x96xf32>) -> tensor<64x96xf32>
  return %0 : tensor<64x96xf32>
}
func.func @chain(%a: tensor<64x128xf32>) -> tensor<64x128xf32> {
  %0 = "ttir.exp"(%a) : (tensor<64x128xf32>) -> tensor<64x128xf32>
  return %0 : tensor<64x128xf32>
}
func.func @matrices(%a: tensor<3x96x32xf32>) -> tensor<3x96x32xf32> {
  %0 = "ttir.exp"(%a) : (tensor<3x96x32xf32>) -> tensor<3x96x32xf32>
  return %0 : tensor<3x96x32xf32>
}
