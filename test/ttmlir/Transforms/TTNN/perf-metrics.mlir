// RUN: ttmlir-opt %s --ttnn-collect-perf-metrics=ttnn-perf-metrics-output-file=%t.json -o %t.mlir
// RUN: FileCheck %s --input-file=%t.json
// RUN: ttmlir-opt %s | diff - %t.mlir
// RUN: ttmlir-opt %s --ttnn-collect-perf-metrics="ttnn-perf-metrics-output-file=%t.json ttnn-perf-metrics-verbose-output-enabled=true"
// RUN: FileCheck %s --check-prefix=VERBOSE --input-file=%t.json
// RUN: ttmlir-opt %s --ttcore-register-device --ttnn-collect-perf-metrics="ttnn-perf-metrics-output-file=%t.json ttnn-perf-metrics-verbose-output-enabled=true"
// RUN: FileCheck %s --check-prefix=CHIP --input-file=%t.json
// RUN: ttmlir-opt %s --ttnn-collect-perf-metrics="ttnn-perf-metrics-output-file=%t.json ttnn-enable-trace=true"
// RUN: FileCheck %s --check-prefix=TRACE --input-file=%t.json
// RUN: not ttmlir-opt %s --ttnn-collect-perf-metrics=ttnn-perf-metrics-output-file=%t.no/folder.json 2>&1 | FileCheck %s --check-prefix=FOLDER
// FOLDER: error: ttnn-perf-metrics-output-file '{{.*}}folder.json' cannot be written: {{.*}}
// RUN: echo 'func.func @nothing() { return }' | ttmlir-opt --ttir-to-ttnn-backend-pipeline="ttnn-perf-metrics-enabled=true ttnn-perf-metrics-output-file=%t.json"
// RUN: FileCheck %s --check-prefix=EMPTY --input-file=%t.json
// EMPTY: "sharded_percentage": 0
// EMPTY: "total_ops": 0

// CHECK: "op_counts": {
// CHECK-NEXT: "ttnn.abs": 2,
// CHECK-NEXT: "ttnn.exp": 1,
// CHECK-NEXT: "ttnn.from_device": 1
// CHECK: "dram_ops": 1,
// CHECK-NEXT: "l1_ops": 2,
// CHECK-NEXT: "sharded_ops": 1,
// CHECK-NEXT: "sharded_percentage": 25,
// CHECK-NEXT: "system_memory_ops": 1,
// CHECK-NEXT: "total_ops": 4
// CHECK-NOT: operations
// VERBOSE: "operations": [
// VERBOSE: "buffer_type": "l1"
// VERBOSE: "data_type": "f32"
// VERBOSE: "function": "program"
// VERBOSE: "grid": [
// VERBOSE: "location": "loc(\"first\")"
// VERBOSE: "memory_layout": "height_sharded"
// VERBOSE: "op": "ttnn.abs"
// The first op reads DRAM and writes its shard in place; its circular buffer is of two tiles.
// CHIP: "circular_buffer_bytes": 8192
// CHIP: "estimated_ns": 60{{[0-9.]+}}
// CHIP: "op": "ttnn.abs"
// TRACE: "total_ops": 1
#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#system_memory = #ttnn.buffer_type<system_memory>
#in_dram = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#sharded = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <height_sharded>>
#in_l1 = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <interleaved>>
#host = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #system_memory>>
func.func @program(%x: tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #host> {
  %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #sharded> loc("first")
  %1 = "ttnn.exp"(%0) : (tensor<32x32xf32, #sharded>) -> tensor<32x32xf32, #in_dram>
  "ttnn.deallocate"(%0) <{force = false}> : (tensor<32x32xf32, #sharded>) -> ()
  %2 = "ttnn.from_device"(%1) : (tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #host>
  return %2 : tensor<32x32xf32, #host>
}
func.func @traced(%x: tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #in_l1> attributes {tt.function_type = "trace_main"} {
  %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #in_l1>
  return %0 : tensor<32x32xf32, #in_l1>
}
func.func private @once(%x: tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #in_dram> attributes {tt.function_type = "const_eval"} {
  %0 = "ttnn.neg"(%x) : (tensor<32x32xf32, #in_dram>) -> tensor<32x32xf32, #in_dram>
  return %0 : tensor<32x32xf32, #in_dram>
}
