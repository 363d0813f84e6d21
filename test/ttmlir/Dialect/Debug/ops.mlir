// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | FileCheck %s

// CHECK-LABEL: @marks
func.func @marks(%x: tensor<21x33xf32>, %y: tensor<21x33xf32>) -> tensor<21x33xf32> {
  // CHECK: %0 = "debug.annotate"(%arg0) <{annotation = "stage-1"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  %0 = "debug.annotate"(%x) <{annotation = "stage-1"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.region_start"(%0) <{region_id = "r0"}>
  %1 = "debug.region_start"(%0) <{region_id = "r0"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.begin_trace"(%1) <{trace_id = "t"}>
  %2 = "debug.begin_trace"(%1) <{trace_id = "t"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.profiler_start"(%2) <{scope_id = "s"}>
  %3 = "debug.profiler_start"(%2) <{scope_id = "s"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.hook"(%3) : (tensor<21x33xf32>) -> tensor<21x33xf32>
  %4 = "debug.hook"(%3) : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.snapshot"(%4) :
  %5 = "debug.snapshot"(%4) : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.timestamp"(%5) :
  %6 = "debug.timestamp"(%5) : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.overwrite"(%6, %arg1) :
  %7 = "debug.overwrite"(%6, %y) : (tensor<21x33xf32>, tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.profiler_end"(%7) <{scope_id = "s"}>
  %8 = "debug.profiler_end"(%7) <{scope_id = "s"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.end_trace"(%8) <{trace_id = "t"}>
  %9 = "debug.end_trace"(%8) <{trace_id = "t"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  // CHECK: "debug.region_end"(%9) <{region_id = "r0"}>
  %10 = "debug.region_end"(%9) <{region_id = "r0"}> : (tensor<21x33xf32>) -> tensor<21x33xf32>
  return %10 : tensor<21x33xf32>
}

// CHECK-LABEL: @effects
func.func @effects(%x: tensor<21x33xf32>) {
  // CHECK: "debug.print"(%arg0) <{message = "after exp"}> : (tensor<21x33xf32>) -> ()
  "debug.print"(%x) <{message = "after exp"}> : (tensor<21x33xf32>) -> ()
  // CHECK: "debug.dump"(%arg0) <{file_path = "exp.tensorbin"}>
  "debug.dump"(%x) <{file_path = "exp.tensorbin"}> : (tensor<21x33xf32>) -> ()
  // CHECK: "debug.breakpoint"(%arg0) : (tensor<21x33xf32>) -> ()
  "debug.breakpoint"(%x) : (tensor<21x33xf32>) -> ()
  // CHECK: "debug.memory_snapshot"(%arg0) <{file_path = "mem.txt"}>
  "debug.memory_snapshot"(%x) <{file_path = "mem.txt"}> : (tensor<21x33xf32>) -> ()
  return
}
