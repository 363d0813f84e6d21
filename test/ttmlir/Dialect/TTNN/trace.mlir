// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#id = #ttnn.ttnn_layout<() -> (0, 0), <1x1>, memref<1x1xui32, #sys>>
func.func @trace(%dev: !ttnn.device) {
  // CHECK: "ttnn.begin_trace_capture"{{.*}} <{cq_id = 0 : ui32}>
  %t = "ttnn.begin_trace_capture"(%dev) <{cq_id = 0 : ui32}> : (!ttnn.device) -> tensor<ui32, #ttnn.trace_id>
  // CHECK: "ttnn.end_trace_capture"{{.*}} <{cq_id = 0 : ui32}>
  "ttnn.end_trace_capture"(%dev, %t) <{cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
  // CHECK: "ttnn.execute_trace"{{.*}} <{blocking = true, cq_id = 0 : ui32}>
  "ttnn.execute_trace"(%dev, %t) <{blocking = true, cq_id = 0 : ui32}> : (!ttnn.device, tensor<ui32, #ttnn.trace_id>) -> ()
  return
}
