// SPDX-License-Identifier: Apache-2.0
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --split-input-file --verify-diagnostics

func.func @kind(%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{'ttir.exp' op ttcore.grid is [2, 2]; expected a grid of rows and columns of cores, such as #ttcore.grid<2x4>}}
  %0 = "ttir.exp"(%x) {ttcore.grid = [2, 2]} : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

func.func @rank(%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{'ttir.exp' op ttcore.grid is #ttcore.grid<2x2x2>; expected a grid of rows and columns of cores}}
  %0 = "ttir.exp"(%x) {ttcore.grid = #ttcore.grid<2x2x2>} : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

func.func @none(%x: tensor<64x64xbf16>) -> tensor<64x64xbf16> {
  // expected-error @+1 {{'ttir.exp' op ttcore.grid is #ttcore.grid<0x2>; expected a grid of rows and columns of cores}}
  %0 = "ttir.exp"(%x) {ttcore.grid = #ttcore.grid<0x2>} : (tensor<64x64xbf16>) -> tensor<64x64xbf16>
  return %0 : tensor<64x64xbf16>
}

// -----

func.func @chip(%x: tensor<512x64xbf16>) -> tensor<512x64xbf16> {
  // expected-error @+1 {{'ttnn.exp' op ttcore.grid is 16x1; the chip has 8x8 cores}}
  %0 = "ttir.exp"(%x) {ttcore.grid = #ttcore.grid<16x1>} : (tensor<512x64xbf16>) -> tensor<512x64xbf16>
  return %0 : tensor<512x64xbf16>
}

// -----

func.func @large(%x: tensor<512x64xbf16>) -> tensor<512x64xbf16> {
  // expected-error @+1 {{'ttnn.exp' op ttcore.grid is 1x9223372036854775807; the chip has 8x8 cores}}
  %0 = "ttir.exp"(%x) {ttcore.grid = #ttcore.grid<1x9223372036854775807>} : (tensor<512x64xbf16>) -> tensor<512x64xbf16>
  return %0 : tensor<512x64xbf16>
}

// -----

// A kernel without shards, more cores than tiles, no tiles, and too little L1.
func.func @refused(%x: tensor<64x128xbf16>, %e: tensor<0x64xbf16>, %l: tensor<4096x4096xbf16>) -> (tensor<64x1xbf16>, tensor<64x128xbf16>, tensor<0x64xbf16>, tensor<4096x4096xbf16>) {
  // expected-warning @+1 {{ttcore.grid is 1x1, and its kernel has no shards of whole tiles for each of these cores; the op has the cores that its kernel takes}}
  %0 = "ttir.sum"(%x) {dim_arg = [1 : i32], keep_dim = true, ttcore.grid = #ttcore.grid<1x1>} : (tensor<64x128xbf16>) -> tensor<64x1xbf16>
  // expected-warning @+1 {{ttcore.grid is 4x1, and its kernel has no shards of whole tiles for each of these cores}}
  %1 = "ttir.exp"(%x) {ttcore.grid = #ttcore.grid<4x1>} : (tensor<64x128xbf16>) -> tensor<64x128xbf16>
  // expected-warning @+1 {{ttcore.grid is 1x1, and}}
  %2 = "ttir.exp"(%e) {ttcore.grid = #ttcore.grid<1x1>} : (tensor<0x64xbf16>) -> tensor<0x64xbf16>
  // expected-warning @+1 {{ttcore.grid is 2x1, and the result needs 16777216 bytes of each core, and circular buffers}}
  %3 = "ttir.exp"(%l) {ttcore.grid = #ttcore.grid<2x1>} : (tensor<4096x4096xbf16>) -> tensor<4096x4096xbf16>
  return %0, %1, %2, %3 : tensor<64x1xbf16>, tensor<64x128xbf16>, tensor<0x64xbf16>, tensor<4096x4096xbf16>
}
