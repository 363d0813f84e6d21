// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @ops
func.func @ops(%a: tensor<2x4x4xf32>, %b: tensor<2x4x3xf32>, %c: tensor<8xcomplex<f32>>, %s: tensor<2xui64>, %v: tensor<f32>) {
  // CHECK: stablehlo.cholesky %arg0, lower = true : tensor<2x4x4xf32>
  %0 = stablehlo.cholesky %a, lower = true : tensor<2x4x4xf32>
  // CHECK: "stablehlo.triangular_solve"(%arg0, %arg1) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}>
  %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  // CHECK: stablehlo.fft %arg2, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  %2 = stablehlo.fft %c, type = FFT, length = [8] : (tensor<8xcomplex<f32>>) -> tensor<8xcomplex<f32>>
  // CHECK: stablehlo.rng_bit_generator %arg3, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  %3:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
  %shape = stablehlo.constant dense<[2, 3]> : tensor<2xi64>
  // CHECK: stablehlo.rng %arg4, %arg4, %{{.*}}, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  %4 = stablehlo.rng %v, %v, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<2x3xf32>
  // CHECK: stablehlo.einsum %arg0, %arg1, config = "bij,bjk->bik"
  %5 = stablehlo.einsum %a, %b, config = "bij,bjk->bik" : (tensor<2x4x4xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
  return
}

// -----

func.func @square(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{a is 'tensor<3x4xf32>'; expected square matrices}}
  %0 = stablehlo.cholesky %a : tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @rows(%a: tensor<4x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  // expected-error@+1 {{expected 4 rows of b}}
  %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// -----

func.func @length(%c: tensor<8xcomplex<f32>>) -> tensor<7xcomplex<f32>> {
  // expected-error@+1 {{fft_length[0] is 7, which needs 7 elements in dimension 0 of 'tensor<8xcomplex<f32>>'}}
  %0 = stablehlo.fft %c, type = FFT, length = [7] : (tensor<8xcomplex<f32>>) -> tensor<7xcomplex<f32>>
  return %0 : tensor<7xcomplex<f32>>
}

// -----

func.func @real(%c: tensor<8xf32>) -> tensor<8xcomplex<f32>> {
  // expected-error@+1 {{takes 'tensor<8xf32>'; expected complex elements for FFT}}
  %0 = stablehlo.fft %c, type = FFT, length = [8] : (tensor<8xf32>) -> tensor<8xcomplex<f32>>
  return %0 : tensor<8xcomplex<f32>>
}

// -----

func.func @state(%s: tensor<3xui64>) -> tensor<2xui32> {
  // expected-error@+1 {{initial_state is 'tensor<3xui64>'; expected tensor<2xui64> for THREE_FRY}}
  %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<3xui64>) -> (tensor<3xui64>, tensor<2xui32>)
  return %0#1 : tensor<2xui32>
}

// -----

func.func @letters(%a: tensor<2x3xf32>) -> tensor<2xf32> {
  // expected-error@+1 {{einsum_config has 'abc' for 'tensor<2x3xf32>'; expected one letter for each dimension}}
  %0 = stablehlo.unary_einsum %a, config = "abc->a" : (tensor<2x3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @source(%x: tensor<4xf32>, %s: tensor<3xf32>, %v: tensor<f32>) -> tensor<4xf32> {
  // expected-error@+1 {{source is 'tensor<3xf32>'; expected 'tensor<2xf32>', one element for each window}}
  %0 = "stablehlo.select_and_scatter"(%x, %s, %v) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %p = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    stablehlo.return %a : tensor<f32>
  }) : (tensor<4xf32>, tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
