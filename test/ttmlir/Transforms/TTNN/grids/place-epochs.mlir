// SPDX-License-Identifier: Apache-2.0
// Ops of a program get epochs and cores, each in the first free rectangle; results do not change.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true" | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline --ttnn-place-epochs | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-policy=any" --ttnn-place-epochs | FileCheck %s
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-policy=smallest" | FileCheck %s --check-prefix=SMALLEST
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-policy=ribbon" | FileCheck %s --check-prefix=RIBBON
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-one-row=true" | FileCheck %s --check-prefix=ROW
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-rows=3 epoch-columns=5" | FileCheck %s --check-prefix=CHIP
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true epoch-overrides=mm=4x2:1x3:transposed,gelu=:1x2,absent=1x1" | FileCheck %s --check-prefix=PLACED
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline | FileCheck %s --check-prefix=NONE

// Flatbuffers keep where ops are.
// RUN: ttmlir-opt %s --ttir-to-ttnn-backend-pipeline="enable-epochs=true" | ttmlir-translate --ttnn-to-flatbuffer -o %t.ttnn
// RUN: mkdir -p %t.d
// RUN: flatc --json --strict-json --raw-binary --size-prefixed -o %t.d %root/include/ttmlir/Target/TTNN/binary.fbs -- %t.ttnn
// RUN: FileCheck %s --check-prefix=FILE < %t.d/place-epochs.mlir.tmp.json

// NONE-NOT: ttcore.placed

// FILE: "name": "ttcore.placed_cores"
// FILE: "name": "ttcore.placed_cycles"
// FILE: "name": "ttcore.placed_epoch"
// FILE: "name": "ttcore.placed_l1"

// The softmax finds no room in the first epoch: its kernel has shards by height alone.
// CHECK-LABEL: @chain
// CHECK: "ttnn.matmul"{{.*}}ttcore.placed_cores = array<i64: 0, 0, 4, 8>, ttcore.placed_cycles = 2731 : i64, ttcore.placed_epoch = 0 : i64, ttcore.placed_l1 = 8192 : i64}
// CHECK: "ttnn.gelu"{{.*}}ttcore.placed_cores = array<i64: 4, 0, 2, 8>{{.*}}ttcore.placed_epoch = 0 : i64
// CHECK: "ttnn.matmul"{{.*}}ttcore.placed_cores = array<i64: 6, 0, 2, 8>{{.*}}ttcore.placed_epoch = 0 : i64
// CHECK: "ttnn.softmax"{{.*}}ttcore.placed_cores = array<i64: 0, 0, 8, 1>{{.*}}ttcore.placed_epoch = 1 : i64
// CHECK: "ttnn.sum"{{.*}}ttcore.placed_cores = array<i64: 0, 1, 1, 1>{{.*}}ttcore.placed_epoch = 1 : i64
// A requested epoch begins before the cores are full.
// CHECK: "ttnn.add"{{.*}}{ttcore.epoch = 1 : i64, ttcore.placed_cores = array<i64: 0, 0, 8, 8>{{.*}}ttcore.placed_epoch = 2 : i64

// SMALLEST-LABEL: @chain
// SMALLEST: "ttnn.matmul"{{.*}}ttcore.placed_cores = array<i64: 0, 0, 1, 1>{{.*}}ttcore.placed_epoch = 0 : i64
// SMALLEST: "ttnn.gelu"{{.*}}ttcore.placed_cores = array<i64: 0, 1, 1, 1>
// SMALLEST: "ttnn.sum"{{.*}}ttcore.placed_cores = array<i64: 0, 4, 1, 1>{{.*}}ttcore.placed_epoch = 0 : i64
// SMALLEST: "ttnn.add"{{.*}}ttcore.placed_cores = array<i64: 0, 0, 1, 1>{{.*}}ttcore.placed_epoch = 1 : i64

// RIBBON-LABEL: @chain
// RIBBON: "ttnn.matmul"{{.*}}ttcore.placed_cores = array<i64: 0, 0, 8, 2>
// RIBBON: "ttnn.gelu"{{.*}}ttcore.placed_cores = array<i64: 0, 2, 8, 1>

// ROW-LABEL: @chain
// ROW-COUNT-6: ttcore.placed_cores = array<i64: {{[0-7], [0-7], 1, [1-8]}}>

// CHIP-LABEL: @chain
// CHIP-COUNT-6: ttcore.placed_cores = array<i64: {{[0-2], [0-4], [12], [1-4]}}>

// Requested places hold; an op whose cores are occupied begins an epoch. A name without an op is ignored.
// PLACED-LABEL: @chain
// PLACED: "ttnn.matmul"{{.*}}ttcore.placed_cores = array<i64: 1, 3, 2, 4>{{.*}}ttcore.placed_epoch = 0 : i64{{.*}}ttcore.placed_transposed = true
// PLACED: "ttnn.gelu"{{.*}}ttcore.placed_cores = array<i64: 1, 2, {{[0-9, ]+}}>{{.*}}ttcore.placed_epoch = {{[01]}} : i64
func.func @chain(%x: tensor<256x256xbf16>, %w: tensor<256x512xbf16>, %v: tensor<512x256xbf16>) -> tensor<256x256xbf16> {
  %0 = "ttir.matmul"(%x, %w) : (tensor<256x256xbf16>, tensor<256x512xbf16>) -> tensor<256x512xbf16> loc("mm")
  %1 = "ttir.gelu"(%0) {ttcore.fusion_group = "alone"} : (tensor<256x512xbf16>) -> tensor<256x512xbf16> loc("gelu")
  %2 = "ttir.matmul"(%1, %v) : (tensor<256x512xbf16>, tensor<512x256xbf16>) -> tensor<256x256xbf16>
  %3 = "ttir.softmax"(%2) {dimension = 1 : si32} : (tensor<256x256xbf16>) -> tensor<256x256xbf16>
  %4 = "ttir.sum"(%3) {dim_arg = [1 : i32], keep_dim = true} : (tensor<256x256xbf16>) -> tensor<256x1xbf16>
  %5 = "ttir.add"(%3, %4) {ttcore.epoch_break = "a"} : (tensor<256x256xbf16>, tensor<256x1xbf16>) -> tensor<256x256xbf16>
  return %5 : tensor<256x256xbf16>
}
