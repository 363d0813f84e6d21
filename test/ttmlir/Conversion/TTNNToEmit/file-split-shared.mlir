// RUN: ttmlir-opt %s --ttnn-file-split --verify-diagnostics

func.func private @both() { return }
func.func private @once() {
  call @both() : () -> ()
  return
}
func.func @model() {
  ttcore.load_cached(@once, []) : () -> ()
  // expected-error @+1 {{calls 'both', which is evaluated once in another place; a function is in one file, main or consteval}}
  call @both() : () -> ()
  return
}
