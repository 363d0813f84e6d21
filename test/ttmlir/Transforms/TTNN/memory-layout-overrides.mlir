// SPDX-License-Identifier: Apache-2.0
// Layouts, changes of layout and configs that a user asks for, by the names of locations; what is refused; what is taken
// back.
// RUN: ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8:l1:block_sharded:tile:bf16,second=l1 insert-memreconfig=third=0" | FileCheck %s
// CHECK-DAG: #[[$BLOCKS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>
// CHECK-DAG: #[[$L1:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x8x!ttcore.tile<32x32, bf16>, #l1>, <interleaved>>
// CHECK: "ttnn.exp"(%{{.*}}) : {{.*}} -> tensor<256x256xbf16, #[[$BLOCKS]]>
// CHECK: "ttnn.to_memory_config"(%{{.*}}) : (tensor<256x256xbf16, #[[$BLOCKS]]>) -> tensor<256x256xbf16, #[[$L1]]>
// CHECK: "ttnn.neg"(%{{.*}}) : (tensor<256x256xbf16, #[[$L1]]>) -> tensor<256x256xbf16, #[[$L1]]>
// CHECK: "ttnn.abs"
//
// The operand of the first is brought into the shards of its result.
// RUN: ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8:l1:block_sharded insert-memreconfig=first=0" | FileCheck %s --check-prefix=BEFORE
// BEFORE-DAG: #[[$BLOCKS:.*]] = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x8>, memref<1x1x!ttcore.tile<32x32, bf16>, #l1>, <block_sharded>
// BEFORE: %[[MOVED:.*]] = "ttnn.to_memory_config"(%arg0) : {{.*}} -> tensor<256x256xbf16, #[[$BLOCKS]]>
// BEFORE-NEXT: "ttnn.exp"(%[[MOVED]])
//
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=fourth=l1 2>&1 | FileCheck %s --check-prefix=NAME
// NAME: names 'fourth', which is the location of no op
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=first=l2 2>&1 | FileCheck %s --check-prefix=PART
// PART: 'ttnn.exp' op option override-output-layout: 'l2' is no grid (8x8), buffer (dram, l1), memory layout
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=first=9x9:l1:block_sharded 2>&1 | FileCheck %s --check-prefix=GRID
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=first=4294967296x4294967296:l1:height_sharded 2>&1 | FileCheck %s --check-prefix=GRID
// GRID: 'ttnn.exp' op option override-output-layout: no shards of {{.*}}256{{.*}}256{{.*}} in whole tiles lie on that grid; the chip has 8x8 cores
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=first=f32 2>&1 | FileCheck %s --check-prefix=TYPE
// TYPE: 'ttnn.exp' op option override-output-layout: the data type of the result is bf16, not 'f32'; only its place can be chosen
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=third=l1 2>&1 | FileCheck %s --check-prefix=LEAVES
// LEAVES: 'ttnn.abs' op option override-output-layout: the result stays in DRAM, interleaved: it leaves the program, or is written to
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=insert-memreconfig=first 2>&1 | FileCheck %s --check-prefix=FORM
// FORM: option insert-memreconfig: 'first' is not NAME=OPERAND:OPERAND
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=insert-memreconfig=second=1 2>&1 | FileCheck %s --check-prefix=INDEX
// INDEX: option insert-memreconfig names 'second', which has 1 tensor operands; operand 1 is asked for (they are counted from 0)
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-conv2d-config=first=act_block_h_override#32 2>&1 | FileCheck %s --check-prefix=CONV
// CONV: option override-conv2d-config names 'first', which is no conv2d or conv_transpose2d
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=chip=l1 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: option override-output-layout names 'chip', where no op computes on the device
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=enable-decision-trace=true decision-trace-dir=/dev/null/trace" 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: decision-trace-dir '/dev/null/trace' cannot be written:
//
// RUN: ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=enable-decision-trace=true decision-trace-dir=%t" --ttnn-greedy-l1-spill-management="enable-decision-trace=true decision-trace-dir=%t" -o /dev/null
// RUN: FileCheck %s --check-prefix=TRACE < %t/program.json
// RUN: FileCheck %s --check-prefix=PAGE < %t/program.html
// TRACE-DAG: "bound":
// TRACE-DAG: "candidates":
// TRACE-DAG: "reason":
// TRACE-DAG: "l1_peak_bytes":
// PAGE: Where the tensors of <code>program</code> lie, and why
// PAGE: ttnn.exp
#dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x8x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<dram>>, <interleaved>>
func.func @program(%x: tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram> {
  %device = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device loc("chip")
  %0 = "ttnn.exp"(%x) : (tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram> loc("first")
  %1 = "ttnn.neg"(%0) : (tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram> loc("second")
  %2 = "ttnn.abs"(%1) : (tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram> loc("third")
  return %2 : tensor<256x256xbf16, #dram>
}
