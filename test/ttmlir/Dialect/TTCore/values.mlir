// RUN: ttmlir-opt %s | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | FileCheck %s
// RUN: ttmlir-opt %s --canonicalize | FileCheck %s --check-prefix=FOLD
// RUN: ttmlir-opt %s --ttir-decompose-composites | FileCheck %s --check-prefix=CALL

// CHECK: ttcore.global @slot = tensor<14x3xf32> [2]
ttcore.global @slot = tensor<14x3xf32> [2]
// CHECK: ttcore.global @weights = !ttcore.dict
ttcore.global @weights = !ttcore.dict

// CHECK-LABEL: @tuples
// FOLD-LABEL: @tuples
// FOLD-NEXT: return %arg1
func.func @tuples(%a: tensor<2x3xbf16>, %b: tensor<4xf32>) -> tensor<4xf32> {
  // CHECK: %[[T:.*]] = ttcore.tuple %arg0, %arg1 : tuple<tensor<2x3xbf16>, tensor<4xf32>>
  %0 = ttcore.tuple %a, %b : tuple<tensor<2x3xbf16>, tensor<4xf32>>
  // CHECK: ttcore.get_tuple_element %[[T]][1] : (tuple<tensor<2x3xbf16>, tensor<4xf32>>) -> tensor<4xf32>
  %1 = ttcore.get_tuple_element %0[1] : (tuple<tensor<2x3xbf16>, tensor<4xf32>>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: @empty
func.func @empty() -> tuple<> {
  // CHECK: ttcore.tuple : tuple<>
  %0 = ttcore.tuple : tuple<>
  return %0 : tuple<>
}

// CHECK-LABEL: @dictionary
func.func @dictionary(%a: tensor<5x7xf32>, %b: tensor<9xbf16>) -> (tensor<5x7xf32>, tensor<9xbf16>) {
  // CHECK: %[[D:.*]] = ttcore.get_global @weights : !ttcore.dict
  %d = ttcore.get_global @weights : !ttcore.dict
  // CHECK: ttcore.set_key_value %[[D]]["w"] = %arg0, %arg1 : !ttcore.dict, tensor<5x7xf32>, tensor<9xbf16>
  ttcore.set_key_value %d["w"] = %a, %b : !ttcore.dict, tensor<5x7xf32>, tensor<9xbf16>
  // CHECK: ttcore.set_key_value %[[D]][4 : index] = %arg1 : !ttcore.dict, tensor<9xbf16>
  ttcore.set_key_value %d[4 : index] = %b : !ttcore.dict, tensor<9xbf16>
  // CHECK: ttcore.get_key_value %[[D]]["w"] : (!ttcore.dict) -> (tensor<5x7xf32>, tensor<9xbf16>)
  %r:2 = ttcore.get_key_value %d["w"] : (!ttcore.dict) -> (tensor<5x7xf32>, tensor<9xbf16>)
  // CHECK: ttcore.get_key_value %[[D]][4 : index] : (!ttcore.dict) -> tensor<9xbf16>
  %s = ttcore.get_key_value %d[4 : index] : (!ttcore.dict) -> tensor<9xbf16>
  return %r#0, %s : tensor<5x7xf32>, tensor<9xbf16>
}

func.func private @scaled(%x: tensor<8x8xbf16>, %s: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  %0 = "ttir.multiply"(%x, %s) : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %0 : tensor<8x8xbf16>
}

// CHECK-LABEL: @composite
// CALL-LABEL: @composite
func.func @composite(%x: tensor<8x8xbf16>, %s: tensor<8x8xbf16>) -> tensor<8x8xbf16> {
  // CHECK: "ttcore.composite"(%arg0, %arg1) <{composite_attributes = {gain = 3 : i32}, composite_name = "scale", decomposition = @scaled}>
  // CALL-NEXT: %[[R:.*]] = call @scaled(%arg0, %arg1)
  // CALL-NEXT: return %[[R]]
  %0 = "ttcore.composite"(%x, %s) <{composite_attributes = {gain = 3 : i32}, composite_name = "scale", decomposition = @scaled}> : (tensor<8x8xbf16>, tensor<8x8xbf16>) -> tensor<8x8xbf16>
  return %0 : tensor<8x8xbf16>
}
