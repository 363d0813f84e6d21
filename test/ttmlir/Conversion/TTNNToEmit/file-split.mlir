// RUN: ttmlir-opt %s --ttnn-file-split=target=emitpy --split-input-file -o %t.py.mlir
// RUN: FileCheck %s --input-file=%t.py.mlir --check-prefixes=CHECK,PY
// RUN: ttmlir-opt %s --ttnn-file-split=target=emitc --split-input-file | FileCheck %s --check-prefixes=CHECK,CPP
// A module of files stays as it is.
// RUN: ttmlir-opt %t.py.mlir --ttnn-file-split --split-input-file | diff - %t.py.mlir
// The conversions write what they write without files, split for Python and whole for C++.
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy=split-files=true --split-input-file -o %t.split
// RUN: ttmlir-opt %s --ttnn-file-split --convert-ttnn-to-emitpy --split-input-file | diff - %t.split
// RUN: ttmlir-opt %s --convert-ttnn-to-emitc --split-input-file -o %t.whole
// RUN: ttmlir-opt %s --ttnn-file-split=target=emitc --convert-ttnn-to-emitc --split-input-file | diff - %t.whole

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!t = tensor<32x32xf32, #t>

// PY: emitpy.file "main" {
// PY-NEXT: emitpy.import "consteval" names ["weight"]
// CPP: emitc.file "main" {
// CHECK-NEXT: func.func private @weight(tensor<{{.*}}>) -> tensor<{{.*}}> attributes {tt.function_type = "const_eval"}
// CHECK-NEXT: func.func @model
// CHECK: ttcore.load_cached(@weight,
// PY: emitpy.file "consteval" {
// CPP: emitc.file "consteval" {
// CHECK-NEXT: func.func private @inner(%{{.*}}:
// CHECK: func.func private @weight(%{{.*}}:
func.func private @inner(%w: !t) -> !t {
  %0 = "ttnn.exp"(%w) : (!t) -> !t
  return %0 : !t
}
func.func @model(%w: !t) -> !t {
  %0 = ttcore.load_cached(@weight, [%w]) : (!t) -> !t
  return %0 : !t
}
func.func private @weight(%w: !t) -> !t attributes {tt.function_type = "const_eval"} {
  %0 = call @inner(%w) : (!t) -> !t
  return %0 : !t
}

// -----

// PY: emitpy.file "main" {
// CPP: emitc.file "main" {
// CHECK-NEXT: func.func @nothing
// CHECK-NOT: file "consteval"
func.func @nothing() { return }
