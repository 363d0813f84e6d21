// RUN: ttmlir-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(chlo-legalize-to-stablehlo))" | FileCheck %s --check-prefix=CHLO
// RUN: ttmlir-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(stablehlo-legalize-deprecated-ops{fail-on-unused=false}))" | FileCheck %s --check-prefix=OLD
// RUN: ttmlir-opt %s --split-input-file --pass-pipeline="builtin.module(func.func(stablehlo-complex-math-expander))" | FileCheck %s --check-prefix=COMPLEX
// RUN: ttmlir-opt %s --split-input-file --stablehlo-compatibility-expander=target=1.0.0 | FileCheck %s --check-prefix=V1
// RUN: ttmlir-opt %s --split-input-file --stablehlo-compatibility-expander=target=1.4.0 | FileCheck %s --check-prefix=V14

// CHLO-LABEL: func.func @chlo
// CHLO-NOT: chlo.
// CHLO: %[[SQUARE:.*]] = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
// CHLO: return %[[SQUARE]]
func.func @chlo(%x: tensor<4xf32>, %i: tensor<4xi32>, %z: tensor<4xcomplex<f32>>)
    -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<4xi32>) {
  %0 = chlo.square %x : tensor<4xf32> -> tensor<4xf32>
  %1 = chlo.erf %x : tensor<4xf32> -> tensor<4xf32>
  %2 = chlo.erfc %x : tensor<4xf32> -> tensor<4xf32>
  %3 = chlo.asin %x : tensor<4xf32> -> tensor<4xf32>
  %4 = chlo.sinh %x : tensor<4xf32> -> tensor<4xf32>
  %5 = chlo.lgamma %x : tensor<4xf32> -> tensor<4xf32>
  %6:2 = chlo.top_k(%x, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
  %7 = chlo.asinh %z : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
  %8 = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  %9 = chlo.broadcast_add %i, %i : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  return %0, %1, %2, %3, %4, %5, %6#0, %6#1, %7, %8, %9 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2xf32>, tensor<2xi32>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<4xi32>
}

// -----

// OLD-LABEL: func.func @deprecated
// OLD-DAG: stablehlo.broadcast_in_dim %arg0, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
// OLD-DAG: stablehlo.dot_general %arg0, %arg1, contracting_dims = [1] x [0] : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
// OLD-DAG: stablehlo.transpose %arg0, dims = [1, 0]
// OLD-DAG: "stablehlo.gather"
// OLD-DAG: stablehlo.after_all  : !stablehlo.token
// OLD-NOT: einsum
func.func @deprecated(%a: tensor<3x4xf32>, %b: tensor<4x5xf32>, %i: tensor<2xi32>) -> (tensor<2x3x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<4x3xf32>, tensor<2x4xf32>, !stablehlo.token) {
  %0 = stablehlo.broadcast %a, sizes = [2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %1 = stablehlo.dot %a, %b : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %2 = stablehlo.einsum %a, %b, config = "ij,jk->ik" : (tensor<3x4xf32>, tensor<4x5xf32>) -> tensor<3x5xf32>
  %3 = "stablehlo.unary_einsum"(%a) <{einsum_config = "ij->ji"}> : (tensor<3x4xf32>) -> tensor<4x3xf32>
  %4 = "stablehlo.torch_index_select"(%a, %i) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<3x4xf32>, tensor<2xi32>) -> tensor<2x4xf32>
  %5 = stablehlo.create_token : !stablehlo.token
  return %0, %1, %2, %3, %4, %5 : tensor<2x3x4xf32>, tensor<3x5xf32>, tensor<3x5xf32>, tensor<4x3xf32>, tensor<2x4xf32>, !stablehlo.token
}

// -----

// COMPLEX-LABEL: func.func @complex
// COMPLEX: stablehlo.exponential %{{.*}} : tensor<2xf32>
// COMPLEX: stablehlo.cosine
// COMPLEX: %[[Z:.*]] = stablehlo.complex %{{.*}}, %{{.*}} : tensor<2xcomplex<f32>>
// COMPLEX: stablehlo.add %[[Z]], %arg0 : tensor<2xcomplex<f32>>
func.func @complex(%z: tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>> {
  %0 = stablehlo.exponential %z : tensor<2xcomplex<f32>>
  %1 = stablehlo.add %0, %z : tensor<2xcomplex<f32>>
  return %1 : tensor<2xcomplex<f32>>
}

// -----

// V1-LABEL: func.func @versions
// V1: stablehlo.sine
// V1: stablehlo.cosine
// V1: stablehlo.divide
// V1: stablehlo.iota dim = 0 : tensor<2x5x1xi32>
// V1: stablehlo.concatenate
// V1: "stablehlo.gather"(%{{.*}}) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>
// V14-LABEL: func.func @versions
// V14: stablehlo.tan
// V14: operand_batching_dims = [0]
func.func @versions(%x: tensor<2x3x4xf32>, %i: tensor<2x5xi32>) -> (tensor<2x3x4xf32>, tensor<2x5x4xf32>) {
  %0 = stablehlo.tan %x : tensor<2x3x4xf32>
  %1 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 4>}>
    : (tensor<2x3x4xf32>, tensor<2x5xi32>) -> tensor<2x5x4xf32>
  return %0, %1 : tensor<2x3x4xf32>, tensor<2x5x4xf32>
}
