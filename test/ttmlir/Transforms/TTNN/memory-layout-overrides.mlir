// SPDX-License-Identifier: Apache-2.0
// Layouts, changes of layout and configs that a user asks for, by the names of locations; what is refused; what is taken
// back.
// RUN: ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8:l1:block_sharded:tile:bf16,second=l1" | FileCheck %s
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
// INDEX: option insert-memreconfig names 'second', which has 1 tensor operands; operand 1 is requested (they are counted from 0)
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-conv2d-config=first=act_block_h_override#32 2>&1 | FileCheck %s --check-prefix=CONV
// CONV: option override-conv2d-config names 'first', which is no conv2d or conv_transpose2d
// RUN: not ttmlir-opt %s --ttcore-register-device --ttnn-greedy-memory-layout-propagation=override-output-layout=chip=l1 2>&1 | FileCheck %s --check-prefix=HOST
// HOST: option override-output-layout names 'chip', where no op computes on the device
//
// Parts that contradict each other.
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8:dram" 2>&1 | FileCheck %s --check-prefix=SHARDS
// SHARDS: 'ttnn.exp' op option override-output-layout: '8x8' is a grid of shards, and the result is interleaved; expected height_sharded, width_sharded or block_sharded with it, or no grid
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8:l1:interleaved" 2>&1 | FileCheck %s --check-prefix=SHARDS
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8" 2>&1 | FileCheck %s --check-prefix=SHARDS
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=dram:l1" 2>&1 | FileCheck %s --check-prefix=BUFFERS
// BUFFERS: 'ttnn.exp' op option override-output-layout: the buffer is given twice, as 'dram' and as 'l1'
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=8x8:l1:block_sharded:4x4" 2>&1 | FileCheck %s --check-prefix=GRIDS
// GRIDS: 'ttnn.exp' op option override-output-layout: the grid is given twice, as '8x8' and as '4x4'
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=l1:height_sharded:block_sharded" 2>&1 | FileCheck %s --check-prefix=KINDS
// KINDS: 'ttnn.exp' op option override-output-layout: the memory layout is given twice, as 'height_sharded' and as 'block_sharded'
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=l1,first=dram" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: option override-output-layout names 'first' twice
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=insert-memreconfig=first=0,first=0" 2>&1 | FileCheck %s --check-prefix=AGAIN
// AGAIN: option insert-memreconfig names 'first' twice
//
// Changes of layout that change nothing.
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=first=l1,second=l1 insert-memreconfig=second=0" 2>&1 | FileCheck %s --check-prefix=ALREADY
// ALREADY: 'ttnn.neg' op option insert-memreconfig: operand 0 lies where the op would have it already: L1, interleaved; there is nothing to change
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=insert-memreconfig=given=0" 2>&1 | FileCheck %s --check-prefix=ONHOST
// ONHOST: 'ttnn.to_device' op option insert-memreconfig: operand 0 lies on the host; there is nothing to change
//
// What is evaluated before the program runs.
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=override-output-layout=weight=l1" 2>&1 | FileCheck %s --check-prefix=ONCE
// ONCE: option override-output-layout names 'weight', which is evaluated before the program runs; its place is no choice
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=insert-memreconfig=weight=0" 2>&1 | FileCheck %s --check-prefix=ONCETOO
// ONCETOO: option insert-memreconfig names 'weight', which is evaluated before the program runs; its operands stay in DRAM
//
// Numbers of the passes themselves.
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=tensor-l1-usage-cap=nan" 2>&1 | FileCheck %s --check-prefix=NAN
// NAN: for the --tensor-l1-usage-cap option: 'nan' is no share; expected a number above 0, and 1 at most
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=tensor-l1-usage-cap=1e30" 2>&1 | FileCheck %s --check-prefix=HUGE
// HUGE: for the --tensor-l1-usage-cap option: '1e30' is no share; expected a number above 0, and 1 at most
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=tensor-l1-usage-cap=-1" 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// NEGATIVE: for the --tensor-l1-usage-cap option: '-1' is no share; expected a number above 0, and 1 at most
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=beam-width=-5" 2>&1 | FileCheck %s --check-prefix=BEAM
// BEAM: for the --beam-width option: '-5' is no count; expected 1 or more
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=max-legal-layouts=-1" 2>&1 | FileCheck %s --check-prefix=LEGAL
// LEGAL: for the --max-legal-layouts option: '-1' is no count; expected 1 or more
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-memory-layout-propagation=max-input-candidates-per-operand=0" 2>&1 | FileCheck %s --check-prefix=INPUTS
// INPUTS: for the --max-input-candidates-per-operand option: '0' is no count; expected 1 or more
// RUN: not ttmlir-opt %s --ttcore-register-device "--ttnn-greedy-l1-spill-management=tensor-l1-usage-cap=nan" 2>&1 | FileCheck %s --check-prefix=SPILLS
// SPILLS: for the --tensor-l1-usage-cap option: 'nan' is no share; expected a number above 0, and 1 at most
//
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
#host = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<256x256xbf16, #ttnn.buffer_type<system_memory>>>
#tiles = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<8x8x!ttcore.tile<32x32, bf16>, #ttnn.buffer_type<system_memory>>>
func.func @load(%x: tensor<256x256xbf16, #host>) -> tensor<256x256xbf16, #dram> {
  %device = "ttnn.get_device"() <{mesh_offset = #ttnn<mesh_offset 0x0>, mesh_shape = #ttnn<mesh_shape 1x1>}> : () -> !ttnn.device
  %0 = "ttnn.to_layout"(%x) : (tensor<256x256xbf16, #host>) -> tensor<256x256xbf16, #tiles>
  %1 = "ttnn.to_device"(%0, %device) : (tensor<256x256xbf16, #tiles>, !ttnn.device) -> tensor<256x256xbf16, #dram> loc("given")
  return %1 : tensor<256x256xbf16, #dram>
}
func.func private @once(%x: tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram> attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.exp"(%x) : (tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram> loc("weight")
  %1 = "ttnn.neg"(%0) : (tensor<256x256xbf16, #dram>) -> tensor<256x256xbf16, #dram>
  return %1 : tensor<256x256xbf16, #dram>
}
