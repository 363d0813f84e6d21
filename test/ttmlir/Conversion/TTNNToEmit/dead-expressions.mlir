// RUN: ttmlir-opt %s --remove-dead-emitc-expressions | FileCheck %s
// RUN: ttmlir-opt %s --pass-pipeline='builtin.module(func.func(remove-dead-emitc-expressions))' | FileCheck %s

// Those that only a dead one reads are dead.
// CHECK-LABEL: func.func @dead
// CHECK-NEXT: return
func.func @dead(%a: i32) {
  %0 = emitc.expression %a : (i32) -> i32 {
    %1 = emitc.add %a, %a : (i32, i32) -> i32
    emitc.yield %1 : i32
  }
  %2 = emitc.expression %0 : (i32) -> i32 {
    %3 = emitc.mul %0, %0 : (i32, i32) -> i32
    emitc.yield %3 : i32
  }
  return
}

// What is read stays, and what has effects.
// CHECK-LABEL: func.func @alive
// CHECK-COUNT-2: emitc.expression
func.func @alive(%a: i32) -> i32 {
  %0 = emitc.expression %a : (i32) -> i32 {
    %1 = emitc.add %a, %a : (i32, i32) -> i32
    emitc.yield %1 : i32
  }
  %2 = emitc.expression %a : (i32) -> i32 {
    %3 = emitc.call_opaque "write"(%a) : (i32) -> i32
    emitc.yield %3 : i32
  }
  return %0 : i32
}
