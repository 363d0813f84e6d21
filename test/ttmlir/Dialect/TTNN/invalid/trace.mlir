// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

func.func @missing(%d: !ttnn.device) {
  // expected-error@+1 {{attribute 'capture_callee' is @capture; expected a function of this module}}
  "ttnn.capture_or_execute_trace"(%d) <{allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ttnn.device) -> ()
  return
}

// -----

func.func private @capture() { return }
func.func @nothing(%d: !ttnn.device) {
  // expected-error@+1 {{attribute 'capture_callee' is @capture, which calls no function to record; expected calls of one}}
  "ttnn.capture_or_execute_trace"(%d) <{allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ttnn.device) -> ()
  return
}

// -----

func.func private @trace(%x: tensor<2xf32>) { return }
func.func private @capture(%x: tensor<2xf32>) {
  call @trace(%x) : (tensor<2xf32>) -> ()
  return
}
func.func @inputs(%d: !ttnn.device) {
  // expected-error@+1 {{passes  to 'trace', which takes 'tensor<2xf32>'}}
  "ttnn.capture_or_execute_trace"(%d) <{allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ttnn.device) -> ()
  return
}

// -----

func.func private @trace() -> tensor<2xf32> {
  %0 = "ttnn.ones"() <{shape = #ttnn.shape<2>}> : () -> tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @capture() {
  %0 = call @trace() : () -> tensor<2xf32>
  return
}
func.func @results(%d: !ttnn.device) {
  // expected-error@+1 {{has results of types ; expected those of 'trace', 'tensor<2xf32>'}}
  "ttnn.capture_or_execute_trace"(%d) <{allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ttnn.device) -> ()
  return
}

// -----

func.func private @trace() { return }
func.func private @capture() {
  call @trace() : () -> ()
  return
}
func.func @slots(%d: !ttnn.device) {
  // expected-error@+1 {{attribute 'allocate_slots_callee' is @slots; expected a function that takes nothing and returns the types of inputs}}
  "ttnn.capture_or_execute_trace"(%d) <{allocate_slots_callee = @slots, capture_callee = @capture, execute_callee = @execute, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ttnn.device) -> ()
  return
}
// -----

func.func private @trace() { return }
func.func private @capture() {
  call @trace() : () -> ()
  return
}
func.func @execute(%d: !ttnn.device) {
  // expected-error@+1 {{attribute 'execute_callee' is @trace; expected a function that takes the number of a recording alone}}
  "ttnn.capture_or_execute_trace"(%d) <{allocate_slots_callee = @trace, capture_callee = @capture, execute_callee = @trace, operandSegmentSizes = array<i32: 1, 0, 0>}> : (!ttnn.device) -> ()
  return
}
