// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --split-input-file --verify-diagnostics --ttir-to-ttnn-backend-pipeline

// Two of four elements.
func.func @short(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ttir.constant' is not lowered to linalg: its resource does not have the bytes of its elements}}
  %0 = "ttir.constant"() <{value = dense_resource<w> : tensor<4xf16>}> {ttir.should_hoist} : () -> tensor<4xf32>
  %1 = "ttir.add"(%x, %0) {ttir.should_hoist} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
{-# dialect_resources: { builtin: { w: "0x02000000003C003C" } } #-}

// -----

func.func @missing(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{'ttir.constant' is not lowered to linalg: its resource does not have the bytes of its elements}}
  %0 = "ttir.constant"() <{value = dense_resource<gone> : tensor<4xf16>}> {ttir.should_hoist} : () -> tensor<4xf32>
  %1 = "ttir.add"(%x, %0) {ttir.should_hoist} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
