// What only marks a value goes with it; what acts stays.
// RUN: ttmlir-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: @unused
// CHECK-NEXT: "debug.breakpoint"(%arg0)
// CHECK-NEXT: "debug.memory_snapshot"(%arg0)
// CHECK-NEXT: return
func.func @unused(%x: tensor<4xf32>) {
  %0 = "debug.annotate"(%x) <{annotation = "nobody sees it"}> : (tensor<4xf32>) -> tensor<4xf32>
  "debug.breakpoint"(%x) : (tensor<4xf32>) -> ()
  "debug.memory_snapshot"(%x) <{file_path = "mem.json"}> : (tensor<4xf32>) -> ()
  return
}

// A call of the host is one each time that it is written, and nothing goes past it.
// CHECK-LABEL: @calls
// CHECK-NEXT: "debug.host_call"(%arg0) <{function = "f"}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: "debug.host_call"(%arg0) <{function = "f"}> : (tensor<4xf32>) -> tensor<4xf32>
// CHECK-NEXT: "debug.host_call"() <{function = "g"}> : () -> ()
// CHECK-NEXT: return
func.func @calls(%x: tensor<4xf32>) {
  %0 = "debug.host_call"(%x) <{function = "f"}> : (tensor<4xf32>) -> tensor<4xf32>
  %1 = "debug.host_call"(%x) <{function = "f"}> : (tensor<4xf32>) -> tensor<4xf32>
  "debug.host_call"() <{function = "g"}> : () -> ()
  return
}
