// Programs that take and return tuples: in Python and C++ these are lists.
// RUN: ttmlir-opt %s --ttnn-tuplify-tensors -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: ttmlir-opt %t.mlir --ttnn-tuplify-tensors | diff - %t.mlir
// RUN: ttmlir-opt %s --ttnn-tuplify-tensors=tuplify-input-if-empty=true | FileCheck %s --check-prefix=EMPTY
// RUN: ttmlir-opt %t.mlir --convert-ttnn-to-emitpy | ttmlir-translate --mlir-to-python --tensor-directory=%t.tensors | FileCheck %s --check-prefix=PYTHON
// RUN: ttmlir-opt %t.mlir --convert-ttnn-to-emitc | ttmlir-translate --mlir-to-cpp --tensor-directory=%t.tensors | FileCheck %s --check-prefix=CPP
// Weights are a tuple of their own.
// RUN: ttmlir-opt %t.mlir --ttnn-split-forward-func-args-by-type -o %t.split.mlir
// RUN: FileCheck %s --input-file=%t.split.mlir --check-prefix=SPLIT
// RUN: ttmlir-opt %t.split.mlir --ttnn-split-forward-func-args-by-type | diff - %t.split.mlir
// RUN: ttmlir-opt %t.split.mlir --convert-ttnn-to-emitpy | ttmlir-translate --mlir-to-python --tensor-directory=%t.tensors | FileCheck %s --check-prefix=LISTS
// RUN: ttmlir-opt %t.split.mlir --convert-ttnn-to-emitc | ttmlir-translate --mlir-to-cpp --tensor-directory=%t.tensors | FileCheck %s --check-prefix=ONE
// The same program as that which the conversion makes with its own option.
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy=tuplify-input-if-empty=true -o %t.own.mlir
// RUN: ttmlir-opt %s --ttnn-tuplify-tensors=tuplify-input-if-empty=true --convert-ttnn-to-emitpy | diff - %t.own.mlir
// Functions that make inputs return what the program takes.
// RUN: ttmlir-opt %s --ttnn-create-input-gens --ttnn-tuplify-tensors | FileCheck %s --check-prefix=INPUTS

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
!t = tensor<32x32xf32, #t>

// CHECK-LABEL: func.func @model
// CHECK-SAME: (%[[IN:.*]]: tuple<tensor<32x32xf32, #{{.*}}>, tensor<32x32xf32, #{{.*}}>> {ttir.name = "inputs", ttnn.elements =
// CHECK-SAME: {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "w"}, {ttir.name = "x"}]})
// CHECK-SAME: -> tuple<tensor<32x32xf32, #{{.*}}>, tensor<32x32xf32, #{{.*}}>>
// CHECK: ttcore.get_tuple_element %[[IN]][0]
// CHECK: ttcore.get_tuple_element %[[IN]][1]
// CHECK: %[[OUT:.*]] = ttcore.tuple
// CHECK: return %[[OUT]]
// SPLIT: func.func @model(%{{.*}}: tuple<tensor<{{[^>]*}}>> {ttir.name = "inputs", ttnn.elements = [{ttir.name = "x"}]},
// SPLIT-SAME: %{{.*}}: tuple<tensor<{{[^>]*}}>> {ttir.name = "weights"
// PYTHON: def model(inputs: list[ttnn.Tensor], device):
// PYTHON-NEXT: w, x = inputs
// PYTHON: return [matmul, part_1]
// PYTHON: print("model:", model(create_inputs_for_model(device), device))
// LISTS: def model(inputs: list[ttnn.Tensor], weights: list[ttnn.Tensor], device):
// LISTS-NEXT: [x] = inputs
// LISTS-NEXT: [w] = weights
// LISTS: def create_inputs_for_model(device):
// LISTS: return [x], [w]
// LISTS: print("model:", model(*create_inputs_for_model(device), device))
// CPP: std::vector<ttnn::Tensor> model(std::vector<ttnn::Tensor> inputs, ttnn::Device device) {
// CPP-NEXT: ttnn::Tensor w = ttnn::input(inputs, 0);
// CPP-NEXT: ttnn::Tensor x = ttnn::input(inputs, 1);
// ONE: std::vector<ttnn::Tensor> model(std::vector<ttnn::Tensor> inputs, ttnn::Device device) {
// ONE-NEXT: ttnn::Tensor x = ttnn::input(inputs, 0);
// ONE-NEXT: ttnn::Tensor w = ttnn::input(inputs, 1);
// INPUTS: func.func @create_inputs_for_model() -> tuple<tensor<{{.*}}>, tensor<{{.*}}>>
func.func @model(%w: !t {ttcore.argument_type = #ttcore.argument_type<parameter>, ttir.name = "w"}, %x: !t {ttir.name = "x"}) -> (!t, !t) {
  %0 = "ttnn.matmul"(%x, %w) : (!t, !t) -> !t
  %1 = call @part(%0) : (!t) -> !t
  return %0, %1 : !t, !t
}

// A function that is called keeps its signature.
// CHECK: func.func private @part(%{{.*}}: tensor<{{.*}}>) -> tensor
func.func private @part(%x: !t) -> !t {
  %0 = "ttnn.exp"(%x) : (!t) -> !t
  return %0 : !t
}

// CHECK: func.func @nothing() -> tuple<tensor<
// EMPTY: func.func @nothing(%{{.*}}: tuple<> {{.*}}) -> tuple<tensor<
// SPLIT: func.func @nothing() -> tuple<tensor<
func.func @nothing() -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.zeros"(%d) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> !t
  return %0 : !t
}
