// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-translate %s --ttnn-to-flatbuffer --split-input-file --verify-diagnostics

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!t = tensor<32x32xf32, #t>
!id = tensor<ui32, #ttnn.trace_id>
func.func @open(%x: !t) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  // expected-error@+1 {{'ttnn.begin_trace_capture' op begins a recording that does not end in its program}}
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  return
}

// -----

!id = tensor<ui32, #ttnn.trace_id>
func.func @leaves() -> !id {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  // expected-error@+1 {{'func.return' op takes the number of a recording out of its program; expected it in ttnn.end_trace_capture and ttnn.execute_trace next to its ttnn.begin_trace_capture}}
  return %id : !id
}

// -----

!id = tensor<ui32, #ttnn.trace_id>
func.func @other(%id: !id) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  // expected-error@+1 {{'ttnn.execute_trace' op is of a recording that its program does not begin}}
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  return
}

// -----

!id = tensor<ui32, #ttnn.trace_id>
func.func @early() {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  // expected-error@+1 {{'ttnn.execute_trace' op executes a recording before it has ended}}
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return
}

// -----

!id = tensor<ui32, #ttnn.trace_id>
func.func @again() {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  // expected-error@+1 {{'ttnn.end_trace_capture' op ends a recording that has ended}}
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  return
}

// -----

!id = tensor<ui32, #ttnn.trace_id>
func.func @nested() {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %a = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  // expected-error@+1 {{'ttnn.begin_trace_capture' op is part of a recording; expected it outside of ttnn.begin_trace_capture}}
  %b = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  "ttnn.end_trace_capture"(%d, %b) : (!ttnn.device, !id) -> ()
  "ttnn.end_trace_capture"(%d, %a) : (!ttnn.device, !id) -> ()
  return
}

// -----

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!t = tensor<32x32xf32, #t>
!id = tensor<ui32, #ttnn.trace_id>
func.func @unexecuted(%x: !t) -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  %0 = "ttnn.exp"(%x) : (!t) -> !t
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  // expected-error@+1 {{'ttnn.neg' op reads what a recording makes, which is not executed before it}}
  %1 = "ttnn.neg"(%0) : (!t) -> !t
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  return %1 : !t
}
