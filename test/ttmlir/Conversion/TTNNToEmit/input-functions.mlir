// RUN: ttmlir-opt %s --ttnn-create-input-gens --split-input-file | FileCheck %s --check-prefixes=CHECK,MADE
// RUN: ttmlir-opt %s --ttnn-create-input-gens --ttnn-load-input-tensors --split-input-file | FileCheck %s --check-prefixes=CHECK,MADE
// RUN: ttmlir-opt %s --ttnn-load-input-tensors="tensor-load-directory=in tensor-load-file-prefix=x" --split-input-file | FileCheck %s --check-prefixes=CHECK,READ
// RUN: ttmlir-opt %s --ttnn-load-input-tensors --split-input-file | FileCheck %s --check-prefix=DEFAULT
// The conversions take the functions that are there.
// RUN: ttmlir-opt %s --ttnn-load-input-tensors=tensor-load-file-prefix=mine --convert-ttnn-to-emitpy --split-input-file | FileCheck %s --check-prefix=PYTHON
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy --split-input-file -o %t.direct
// RUN: ttmlir-opt %s --ttnn-create-input-gens --convert-ttnn-to-emitpy --split-input-file | diff - %t.direct
// What other passes do to Python is done.
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy --emitpy-add-imports --emitpy-const-eval-caching --emitpy-form-expressions --emitpy-link-modules --emitpy-name-vars --split-input-file | diff - %t.direct

#dram = #ttnn.buffer_type<dram>
#f = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#i = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, si32>, #dram>, <interleaved>>

// CHECK-LABEL: func.func @model
// CHECK: func.func @create_inputs_for_model() -> (tensor<32x32xf32, #{{.*}}>, tensor<32x32xsi32, #{{.*}}>) attributes {tt.function_type = "input_generator", ttnn.inputs_of = "model"}
// MADE: "ttnn.rand"
// MADE: "ttnn.zeros"
// READ: "ttnn.load_tensor"(%{{.*}}) <{file_path = "in/x0.tensorbin"}>
// READ: "ttnn.load_tensor"(%{{.*}}) <{file_path = "in/x1.tensorbin"}>
// DEFAULT: file_path = "arg0.tensorbin"
// CHECK-NOT: create_inputs_for_create
// PYTHON: mine0.tensorbin
func.func @model(%x: tensor<32x32xf32, #f>, %y: tensor<32x32xsi32, #i>) -> tensor<32x32xf32, #f> {
  %0 = call @part(%x) : (tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
  return %0 : tensor<32x32xf32, #f>
}
// CHECK-NOT: create_inputs_for_part
func.func private @part(%x: tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f> {
  %0 = "ttnn.abs"(%x) : (tensor<32x32xf32, #f>) -> tensor<32x32xf32, #f>
  return %0 : tensor<32x32xf32, #f>
}

// -----

// Of marked functions only. A program without inputs has a function that makes none, and a name may be taken.
// CHECK-LABEL: func.func @forward
// CHECK: func.func @create_inputs_for_forward_() attributes {tt.function_type = "input_generator", ttnn.inputs_of = "forward"} {
// CHECK-NEXT: return
// CHECK: func.func @other()
// CHECK-NOT: create_inputs_for_other
func.func @forward() attributes {tt.function_type = "forward_device"} { return }
func.func @other() { return }
func.func @create_inputs_for_forward() { return }
