// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{'not a module' is not the name of a Python module}}
emitpy.import "not a module"

// -----

// expected-error@+1 {{'class' is not a Python name}}
emitpy.import "a" names ["class"]

// -----

// expected-error@+1 {{'a-b' is not a Python name}}
emitpy.global @"a-b" = <"1">

// -----

// expected-error@+1 {{expected a Python expression}}
emitpy.global @a = <"">

// -----

// expected-error@+1 {{expected the name of a Python class}}
func.func private @f(!emitpy.opaque<"">)

// -----

// expected-error@+1 {{callee 'ttnn.' is not a Python name}}
emitpy.call_opaque "ttnn."() : () -> ()

// -----

// expected-error@+1 {{calls a method and has no operand whose method that could be}}
emitpy.call_opaque ".f"() : () -> ()

// -----

// expected-error@+1 {{has keywords and no args}}
emitpy.call_opaque "f"() {keywords = ["a"]} : () -> ()

// -----

// expected-error@+1 {{has 1 keywords for 2 args}}
emitpy.call_opaque "f"() {args = [1 : i32, 2 : i32], keywords = ["a"]} : () -> ()

// -----

// expected-error@+1 {{has a positional argument after a keyword}}
emitpy.call_opaque "f"() {args = [1 : i32, 2 : i32], keywords = ["a", ""]} : () -> ()

// -----

// expected-error@+1 {{keyword 'a b' is not a Python name}}
emitpy.call_opaque "f"() {args = [1 : i32], keywords = ["a b"]} : () -> ()

// -----

// expected-error@+1 {{argument refers to operand 0 of 0}}
emitpy.call_opaque "f"() {args = [[0 : index]]} : () -> ()

// -----

// expected-error@+1 {{argument array<i64: 1> has no form in Python}}
emitpy.call_opaque "f"() {args = [array<i64: 1>]} : () -> ()

// -----

func.func @f(%a: !emitpy.opaque<"int">) {
  // expected-error@+1 {{operand 0 is no argument}}
  emitpy.call_opaque "f"(%a) {args = []} : (!emitpy.opaque<"int">) -> ()
  return
}
