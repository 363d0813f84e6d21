// RUN: ttmlir-opt %s --ttnn-trace-hoist-transform --split-input-file -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir --ttnn-trace-hoist-transform --split-input-file | diff - %t.mlir
// A program that is written for people calls what is recorded.
// RUN: ttmlir-opt %t.mlir --convert-ttnn-to-emitpy --split-input-file | FileCheck %s --check-prefix=PYTHON

#dram = #ttnn.buffer_type<dram>
#sys = #ttnn.buffer_type<system_memory>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #sys>>
!t = tensor<32x32xf32, #t>
!h = tensor<32x32xf32, #h>

// Transfers stay, deallocations of what was there before follow, and what is evaluated once comes first.
// CHECK-LABEL: func.func @main
// CHECK-NEXT: %[[D:.*]] = "ttnn.get_device"
// CHECK-NEXT: %[[W:.*]] = ttcore.load_cached(@once
// CHECK-NEXT: %[[X:.*]] = "ttnn.to_device"
// CHECK-NEXT: %[[R:.*]]:2 = "ttnn.capture_or_execute_trace"(%[[D]], %[[X]], %[[W]])
// CHECK-SAME: allocate_slots_callee = @allocate_slots_trace_0_main, capture_callee = @run_and_capture_trace_0_main, execute_callee = @execute_trace_0_main
// CHECK-NEXT: "ttnn.deallocate"(%[[X]])
// CHECK-NEXT: %[[H:.*]] = "ttnn.from_device"(%[[R]]#1)
// CHECK-NEXT: return %[[H]], %[[R]]#0
// PYTHON: func.func @trace_0_main
// PYTHON: func.func @main
// PYTHON: call_opaque "trace_0_main"
// PYTHON-NOT: func.func @{{execute|allocate|run}}
func.func @main(%x: !h, %w: !t) -> (!h, !t) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.to_device"(%x, %d) : (!h, !ttnn.device) -> !t
  %1 = "ttnn.exp"(%0) : (!t) -> !t
  %2 = ttcore.load_cached(@once, [%w]) : (!t) -> !t
  %3 = "ttnn.ones"(%d) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> !t
  %4 = "ttnn.add"(%1, %2) : (!t, !t) -> !t
  "ttnn.deallocate"(%0) : (!t) -> ()
  "ttnn.deallocate"(%1) : (!t) -> ()
  %5 = "ttnn.add"(%4, %3) : (!t, !t) -> !t
  "ttnn.deallocate"(%3) : (!t) -> ()
  %6 = "ttnn.from_device"(%5) : (!t) -> !h
  return %6, %4 : !h, !t
}
// CHECK: func.func private @once
// CHECK: func.func private @trace_0_main(%[[A:.*]]: tensor<{{.*}}>, %[[B:.*]]: tensor<{{.*}}>) {{.*}} attributes {tt.function_type = "trace_main"} {
// CHECK-NEXT: %[[D:.*]] = "ttnn.get_device"
// CHECK-NEXT: %[[E:.*]] = "ttnn.exp"(%[[A]])
// CHECK-NEXT: %[[O:.*]] = "ttnn.ones"(%[[D]])
// CHECK-NEXT: %[[S:.*]] = "ttnn.add"(%[[E]], %[[B]])
// CHECK-NEXT: "ttnn.deallocate"(%[[E]])
// CHECK-NEXT: %[[U:.*]] = "ttnn.add"(%[[S]], %[[O]])
// CHECK-NEXT: "ttnn.deallocate"(%[[O]])
// CHECK-NEXT: return %[[S]], %[[U]]
// CHECK: func.func private @allocate_slots_trace_0_main() {{.*}} attributes {tt.function_type = "trace_allocate_slots"}
// CHECK-COUNT-2: "ttnn.empty"
// CHECK: func.func private @run_and_capture_trace_0_main({{.*}} attributes {tt.function_type = "trace_run_and_capture"}
// CHECK: call @trace_0_main
// CHECK: %[[ID:.*]] = "ttnn.begin_trace_capture"
// CHECK: %[[R:.*]]:2 = call @trace_0_main
// CHECK: "ttnn.end_trace_capture"({{.*}}, %[[ID]])
// CHECK: return %[[ID]], %[[R]]#0, %[[R]]#1
// CHECK: func.func private @execute_trace_0_main(%[[ID:.*]]: tensor<ui32, #ttnn.trace_id>) attributes {tt.function_type = "trace_execute"}
// CHECK: "ttnn.execute_trace"({{.*}}, %[[ID]])
func.func private @once(%w: !t) -> !t attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.neg"(%w) : (!t) -> !t
  return %0 : !t
}

// -----

// A cache is written by the program; of the parts around it, the larger one is recorded.
#dram = #ttnn.buffer_type<dram>
#c = #ttnn.ttnn_layout<(d0, d1, d2, d3) -> (d0 * 64 + d1 * 32 + d2, d3), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!c = tensor<1x1x32x32xf32, #c>
// CHECK-LABEL: func.func @cache
// CHECK: "ttnn.exp"
// CHECK: "ttnn.fill_cache"
// CHECK: "ttnn.capture_or_execute_trace"
// CHECK: @trace_0_cache
// CHECK-NEXT: "ttnn.neg"
// CHECK-NEXT: "ttnn.abs"
func.func @cache(%cache: !c, %x: !c) -> !c {
  %0 = "ttnn.exp"(%x) : (!c) -> !c
  "ttnn.fill_cache"(%cache, %0) <{batch_offset = 0 : i32}> : (!c, !c) -> ()
  %1 = "ttnn.neg"(%cache) : (!c) -> !c
  %2 = "ttnn.abs"(%1) : (!c) -> !c
  return %2 : !c
}

// -----

// Nothing to record.
// CHECK-LABEL: func.func @host
// CHECK-NOT: trace
#sys = #ttnn.buffer_type<system_memory>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #sys>>
func.func @host(%x: tensor<32x32xf32, #h>) -> tensor<32x32xf32, #h> {
  return %x : tensor<32x32xf32, #h>
}
