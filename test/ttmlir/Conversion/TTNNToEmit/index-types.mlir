// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttir-to-emitpy-pipeline | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=PY
// RUN: ttmlir-opt %s --ttir-to-emitc-pipeline | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=CPP

// One type would be that of the values alone: the library's indices are ui32.
// PY: values, indices = ttnn.topk(arg0, k=5, dtype=[ttnn.int32, ttnn.int32])
// CPP: auto [values, indices] = ttnn::topk(
// CPP: {ttnn::DataType::INT32, ttnn::DataType::INT32}
func.func @integers(%x: tensor<64x128xi32>) -> (tensor<64x5xi32>, tensor<64x5xi32>) {
  %0, %1 = "ttir.topk"(%x) <{k = 5 : i32, dim = -1 : i32, largest = true, sorted = true}> : (tensor<64x128xi32>) -> (tensor<64x5xi32>, tensor<64x5xi32>)
  return %0, %1 : tensor<64x5xi32>, tensor<64x5xi32>
}
