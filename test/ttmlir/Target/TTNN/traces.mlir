// SPDX-License-Identifier: Apache-2.0
// What is recorded runs where the recording is executed.
// RUN: mkdir -p %t.d
// RUN: ttmlir-opt %s --ttcore-register-device | ttmlir-translate --ttnn-to-flatbuffer -o %t.d/traces.ttnn
// RUN: flatc --json --strict-json --defaults-json --raw-binary --size-prefixed -o %t.d %root/include/ttmlir/Target/TTNN/binary.fbs -- %t.d/traces.ttnn
// RUN: FileCheck %s < %t.d/traces.json
// RUN: ttmlir-opt %s --ttnn-common-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=PYTHON

#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #sys>>
!t = tensor<32x32xf32, #t>
!h = tensor<32x32xf32, #h>
!id = tensor<ui32, #ttnn.trace_id>

// CHECK: "name": "twice"
// CHECK-NOT: trace_capture
// CHECK: "name": "ttnn.abs"
// CHECK: "name": "ttnn.exp"
// CHECK: "name": "ttnn.copy"
// CHECK: "name": "ttnn.neg"
// CHECK: "name": "ttnn.write_tensor"
// CHECK: "name": "ttnn.exp"
// CHECK: "name": "ttnn.copy"
// CHECK: "name": "ttnn.add"
// CHECK-NOT: "name": "ttnn.exp"
// PYTHON-LABEL: def twice
// PYTHON: [[A:[a-z_0-9]+]] = ttnn.abs(
// PYTHON: [[E:[a-z_0-9]+]] = ttnn.exp(
// PYTHON: ttnn.copy([[E]],
// PYTHON: [[N:[a-z_0-9]+]] = ttnn.neg([[E]]
// PYTHON: ttnn.copy_host_to_device_tensor(
// PYTHON: [[F:[a-z_0-9]+]] = ttnn.exp(
// PYTHON: ttnn.add([[F]], [[N]]
func.func @twice(%x: !t, %sum: !t, %next: !h) -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  %0 = "ttnn.exp"(%x) : (!t) -> !t
  "ttnn.copy"(%0, %sum) : (!t, !t) -> ()
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  %1 = "ttnn.abs"(%x) : (!t) -> !t
  "ttnn.execute_trace"(%d, %id) : (!ttnn.device, !id) -> ()
  %2 = "ttnn.neg"(%0) : (!t) -> !t
  "ttnn.write_tensor"(%next, %x) : (!h, !t) -> ()
  "ttnn.execute_trace"(%d, %id) <{blocking = true}> : (!ttnn.device, !id) -> ()
  %3 = "ttnn.add"(%0, %2) : (!t, !t) -> !t
  return %3 : !t
}

// A recording that nobody executes does nothing.
// CHECK: "name": "never"
// CHECK-NOT: "name": "ttnn.exp"
// CHECK: "name": "ttnn.neg"
func.func @never(%x: !t) -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %id = "ttnn.begin_trace_capture"(%d) : (!ttnn.device) -> !id
  %0 = "ttnn.exp"(%x) : (!t) -> !t
  "ttnn.end_trace_capture"(%d, %id) : (!ttnn.device, !id) -> ()
  %1 = "ttnn.neg"(%x) : (!t) -> !t
  return %1 : !t
}
