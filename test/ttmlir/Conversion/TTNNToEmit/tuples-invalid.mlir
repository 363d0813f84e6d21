// Tuples that a program cannot have.
// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy --split-input-file --verify-diagnostics
// RUN: ttmlir-opt %s --convert-ttnn-to-emitc --split-input-file --verify-diagnostics

#dram = #ttnn.buffer_type<dram>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>

// expected-error @+1 {{argument 0 is 'tuple<i32>'; element 0 is 'i32', expected a tensor}}
func.func @element(%x: tuple<i32>) { return }

// -----

// expected-error @+1 {{argument 0 is 'i32' next to a tuple; expected tuples and the device}}
func.func @mixed(%x: i32, %y: tuple<>) { return }

// -----

func.func @use(%x: tuple<tensor<2xf32>>) {
  // expected-error @+1 {{takes argument 0, which is a tuple; a program reads its elements by ttcore.get_tuple_element}}
  %0 = ttcore.tuple %x : tuple<tuple<tensor<2xf32>>>
  return
}

// -----

func.func @result(%x: tuple<tensor<2xf32>>) -> tuple<tensor<2xf32>> {
  // expected-error @+1 {{takes argument 0, which is a tuple}}
  return %x : tuple<tensor<2xf32>>
}

// -----

func.func @mixed(%x: tensor<2xf32>) -> (tuple<tensor<2xf32>>, tensor<2xf32>) {
  %0 = ttcore.tuple %x : tuple<tensor<2xf32>>
  // expected-error @+1 {{returns a tuple; expected one alone, made by ttcore.tuple}}
  return %0, %x : tuple<tensor<2xf32>>, tensor<2xf32>
}

// -----

// expected-error @+1 {{takes or returns tuples and is called; expected tensors}}
func.func @callee(%x: tuple<tensor<2xf32>>) { return }
func.func @caller(%x: tensor<2xf32>) {
  %0 = ttcore.tuple %x : tuple<tensor<2xf32>>
  call @callee(%0) : (tuple<tensor<2xf32>>) -> ()
  return
}
