// What is evaluated once in a file of its own, and programs that take and return lists.
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy="split-files=true tuplify-input-if-empty=true" -o %t.mlir
// RUN: ttmlir-translate %t.mlir --mlir-to-python --tensor-directory=%t.tensors --emitpy-file-id=main | FileCheck %s --check-prefix=MAIN
// RUN: ttmlir-translate %t.mlir --mlir-to-python --tensor-directory=%t.tensors --emitpy-file-id=consteval | FileCheck %s --check-prefix=ONCE
// RUN: not ttmlir-translate %t.mlir --mlir-to-python --tensor-directory=%t.tensors 2>&1 | FileCheck %s --check-prefix=WHICH
// RUN: not ttmlir-translate %t.mlir --mlir-to-python --tensor-directory=%t.tensors --emitpy-file-id=other 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy | not ttmlir-translate --mlir-to-python --tensor-directory=%t.tensors --emitpy-file-id=main 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: ttmlir-opt %s --convert-ttnn-to-emitc=tuplify-input-if-empty=true | ttmlir-translate --mlir-to-cpp --tensor-directory=%t.tensors | FileCheck %s --check-prefix=CPP

// WHICH: error: the program has the files main, consteval; choose one with --emitpy-file-id
// OTHER: error: the program has no file 'other'; there are main, consteval
// ONE: error: the program is one file; there is none called 'main'

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// ONCE: from pathlib import Path
// ONCE: import ttnn
// ONCE: TENSORS = Path(__file__).parent / "tensors"
// ONCE: def constants_constants(device):
// ONCE-NEXT:   w = ttnn.load_tensor(TENSORS / "w.tensorbin", device=device)
// ONCE-NEXT:   return w
// ONCE-NOT: def

// MAIN: import ttnn
// MAIN-EMPTY:
// MAIN-NEXT: from consteval import constants_constants
// MAIN-NOT: TENSORS
// MAIN: def constants(inputs: list[ttnn.Tensor], device):
// MAIN-NEXT:   [x] = inputs
// MAIN-NEXT:   w = ttnn.load_cached(constants_constants, [], device)
// MAIN-NEXT:   add = ttnn.add(x, w)
// MAIN-NEXT:   return [add]
// CPP: std::vector<ttnn::Tensor> constants(std::vector<ttnn::Tensor> inputs, ttnn::Device device) {
// CPP-NEXT:   ttnn::Tensor x = ttnn::input(inputs, 0);
// CPP:   return {add};
func.func @constants(%x: tensor<2x2xf32, #t> {ttir.name = "x"}) -> tensor<2x2xf32, #t> {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.constant"(%d) <{value = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>}> : (!ttnn.device) -> tensor<2x2xf32, #t> loc("w")
  %1 = "ttnn.add"(%x, %0) : (tensor<2x2xf32, #t>, tensor<2x2xf32, #t>) -> tensor<2x2xf32, #t>
  return %1 : tensor<2x2xf32, #t>
}

// MAIN: def nothing(inputs: list[ttnn.Tensor], device):
// MAIN-NEXT:   full = ttnn.full
// MAIN: def create_inputs_for_nothing():
// MAIN-NEXT:   return []
// CPP: std::vector<ttnn::Tensor> nothing(std::vector<ttnn::Tensor> inputs, ttnn::Device device) {
// MAIN: print("constants:", constants(create_inputs_for_constants(device), device))
// MAIN-NEXT: print("nothing:", nothing(create_inputs_for_nothing(), device))
func.func @nothing() -> tensor<2x2xf32, #t> {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %0 = "ttnn.constant"(%d) <{value = dense<1.0> : tensor<2x2xf32>}> : (!ttnn.device) -> tensor<2x2xf32, #t>
  return %0 : tensor<2x2xf32, #t>
}
