// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy --split-input-file --verify-diagnostics

module {
  emitpy.file "main" {
    func.func @f() { return }
    // expected-error @+1 {{is in a file of functions of TTNN; expected functions and imports}}
    emitpy.verbatim "x = 1"
  }
}

// -----

module {
  emitpy.file "main" {
    func.func @f() { return }
  }
  emitpy.file "other" {
    // expected-error @+1 {{is in two files; expected one function of a name}}
    func.func @f() { return }
  }
}
