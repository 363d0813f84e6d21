// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline | FileCheck %s
// RUN: ttmlir-opt %s --split-input-file --d2m-fe-pipeline="enable-elementwise-fusion=false" | FileCheck %s --check-prefix=OFF
// RUN: ttmlir-opt %s --split-input-file --ttir-to-ttmetal-pipeline | FileCheck %s --check-prefix=KERNEL

// A chain is one generic, and one kernel with one section of registers; a value that is used twice has its register.
// CHECK-LABEL: func.func @chain
// CHECK: d2m.generic {{.*}}
// CHECK: d2m.tile_tilize_block
// CHECK: d2m.tile_tilize_block
// CHECK: d2m.generic
// CHECK-SAME: indexing_maps = [#[[MAP:.*]], #[[MAP]], #[[MAP]]]
// CHECK: %[[SUM:.*]] = "d2m.tile_add"
// CHECK-NEXT: %[[SQUARE:.*]] = "d2m.tile_mul"(%[[SUM]], %[[SUM]])
// CHECK-NEXT: %[[EXP:.*]] = "d2m.tile_exp"(%[[SQUARE]])
// CHECK-NEXT: memref.store %[[EXP]]
// CHECK: d2m.tile_untilize_block
// OFF-LABEL: func.func @chain
// OFF: "d2m.tile_add"
// OFF: d2m.generic
// OFF: "d2m.tile_mul"
// OFF: d2m.generic
// OFF: "d2m.tile_exp"
// KERNEL: emitc.call_opaque "tile_regs_acquire"
// KERNEL: emitc.call_opaque "add_tiles"
// KERNEL: emitc.call_opaque "mul_binary_tile"
// KERNEL: emitc.call_opaque "exp_tile"
// KERNEL: emitc.call_opaque "tile_regs_commit"
func.func @chain(%a: tensor<64x96xbf16>, %b: tensor<64x96xbf16>) -> tensor<64x96xbf16> {
  %0 = "ttir.add"(%a, %b) : (tensor<64x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
  %1 = "ttir.multiply"(%0, %0) : (tensor<64x96xbf16>, tensor<64x96xbf16>) -> tensor<64x96xbf16>
  %2 = "ttir.exp"(%1) : (tensor<64x96xbf16>) -> tensor<64x96xbf16>
  return %2 : tensor<64x96xbf16>
}

// -----

// A value that another generic reads stays in its buffer. A sum in bf16 is rounded, which registers of 32 bits are not;
// a cast rounds it there, too.
// CHECK-LABEL: func.func @kept
// CHECK: "d2m.tile_add"
// CHECK: d2m.generic
// CHECK: "d2m.tile_exp"
// CHECK: d2m.generic
// CHECK: "d2m.tile_sin"
func.func @kept(%a: tensor<32x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xbf16>) {
  %0 = "ttir.add"(%a, %a) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %1 = "ttir.exp"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %2 = "ttir.sin"(%0) : (tensor<32x32xbf16>) -> tensor<32x32xbf16>
  return %1, %2 : tensor<32x32xbf16>, tensor<32x32xbf16>
}

// CHECK-LABEL: func.func @widths
// CHECK: d2m.generic {{.*}}f32_registers
// CHECK: "d2m.tile_typecast"
// CHECK-NEXT: %[[EXP:.*]] = "d2m.tile_exp"
// CHECK-NEXT: "d2m.tile_typecast"(%[[EXP]])
// CHECK: d2m.generic
// CHECK: %[[SUM:.*]] = "d2m.tile_add"
// CHECK-NEXT: memref.store %[[SUM]]
// CHECK: d2m.generic
// CHECK: "d2m.tile_typecast"
func.func @widths(%a: tensor<32x32xbf16>) -> (tensor<32x32xbf16>, tensor<32x32xf32>) {
  %0 = "ttir.typecast"(%a) <{conservative_folding = false}> : (tensor<32x32xbf16>) -> tensor<32x32xf32>
  %1 = "ttir.exp"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.typecast"(%1) <{conservative_folding = false}> : (tensor<32x32xf32>) -> tensor<32x32xbf16>
  %3 = "ttir.add"(%a, %a) : (tensor<32x32xbf16>, tensor<32x32xbf16>) -> tensor<32x32xbf16>
  %4 = "ttir.typecast"(%3) <{conservative_folding = false}> : (tensor<32x32xbf16>) -> tensor<32x32xf32>
  return %2, %4 : tensor<32x32xbf16>, tensor<32x32xf32>
}

// -----

// A constant is made in each kernel that uses it, and what nothing reads is not made.
// CHECK-LABEL: func.func @constants
// CHECK-NOT: "d2m.tile_sin"
// CHECK: d2m.tile_fill
// CHECK-NEXT: "d2m.tile_add"
// CHECK: d2m.tile_fill
// CHECK-NEXT: "d2m.tile_mul"
// CHECK-NOT: d2m.tile_fill
func.func @constants(%a: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %c = "ttir.constant"() <{value = dense<2.5> : tensor<32x32xf32>}> : () -> tensor<32x32xf32>
  %0 = "ttir.add"(%a, %c) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %1 = "ttir.multiply"(%a, %c) : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
  %2 = "ttir.sin"(%1) : (tensor<32x32xf32>) -> tensor<32x32xf32>
  return %0, %1 : tensor<32x32xf32>, tensor<32x32xf32>
}
