// RUN: ttmlir-opt %s --convert-ttnn-to-emitpy --mlir-print-debuginfo | ttmlir-translate --mlir-to-python | FileCheck %s --check-prefix=PY
// RUN: ttmlir-opt %s --convert-ttnn-to-emitc --mlir-print-debuginfo | ttmlir-translate --mlir-to-cpp | FileCheck %s --check-prefix=CPP

#dram = #ttnn.buffer_type<dram>
#l1 = #ttnn.buffer_type<l1>
#t = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#i = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, u32>, #dram>, <interleaved>>
#r = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #dram>, <interleaved>>
#m = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <interleaved>>
#h = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<32x32xf32, #ttnn.buffer_type<system_memory>>>
#s = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <8x1>, memref<1x1x!ttcore.tile<32x32, f32>, #l1>, <height_sharded>>

// What the library does by itself is not said.
// PY: def results(x):
// CPP: ttnn::Tensor results(ttnn::Tensor x) {
func.func @results(%x: tensor<32x32xf32, #t> {ttir.name = "x"}) -> tensor<32x32xf32, #t> {
  // PY-NEXT: exp = ttnn.exp(x)
  // CPP-NEXT: ttnn::Tensor exp = ttnn::exp(x);
  %0 = "ttnn.exp"(%x) : (tensor<32x32xf32, #t>) -> tensor<32x32xf32, #t>
  // PY-NEXT: half = ttnn.typecast(exp, ttnn.bfloat16)
  // CPP-NEXT: ttnn::Tensor half = ttnn::typecast(exp, /*dtype=*/ttnn::DataType::BFLOAT16);
  %1 = "ttnn.typecast"(%0) <{dtype = #ttcore.supportedDataTypes<bf16>}> : (tensor<32x32xf32, #t>) -> tensor<32x32xbf16, #b> loc("half")
  // PY-NEXT: eq = ttnn.eq(half, half, dtype=ttnn.float32)
  // CPP-NEXT: ttnn::Tensor eq = ttnn::eq(half, half, /*dtype=*/ttnn::DataType::FLOAT32);
  %2 = "ttnn.eq"(%1, %1) : (tensor<32x32xbf16, #b>, tensor<32x32xbf16, #b>) -> tensor<32x32xf32, #t>
  // PY-NEXT: rows = ttnn.to_layout(eq, ttnn.ROW_MAJOR_LAYOUT)
  // CPP-NEXT: ttnn::Tensor rows = ttnn::to_layout(eq, /*layout=*/ttnn::Layout::ROW_MAJOR);
  %3 = "ttnn.to_layout"(%2) : (tensor<32x32xf32, #t>) -> tensor<32x32xf32, #r> loc(fused<3 : i64>["rows"])
  // PY-NEXT: relu = ttnn.relu(rows, layout=ttnn.TILE_LAYOUT)
  // CPP-NEXT: ttnn::Tensor relu = ttnn::relu(
  // CPP-NEXT:   rows, /*dtype=*/std::nullopt, /*memory_config=*/std::nullopt, /*layout=*/ttnn::Layout::TILE);
  %4 = "ttnn.relu"(%3) : (tensor<32x32xf32, #r>) -> tensor<32x32xf32, #t> loc("model.py:12")
  // PY-NEXT: to_memory_config = ttnn.to_memory_config(relu, ttnn.L1_MEMORY_CONFIG)
  // CPP-NEXT: ttnn::Tensor to_memory_config = ttnn::to_memory_config(relu, /*memory_config=*/ttnn::L1_MEMORY_CONFIG);
  %5 = "ttnn.to_memory_config"(%4) : (tensor<32x32xf32, #t>) -> tensor<32x32xf32, #m>
  // PY-NEXT: shards = ttnn.to_memory_config(
  // PY-NEXT:   to_memory_config,
  // PY-NEXT:   ttnn.MemoryConfig(
  // PY-NEXT:     ttnn.TensorMemoryLayout.HEIGHT_SHARDED,
  // PY-NEXT:     ttnn.BufferType.L1,
  // PY-NEXT:     ttnn.ShardSpec(ttnn.CoreGrid(y=8, x=1), [32, 32], ttnn.ShardOrientation.ROW_MAJOR),
  // PY-NEXT:   ),
  // PY-NEXT: )
  // CPP-NEXT: ttnn::Tensor shards = ttnn::to_memory_config(
  // CPP-NEXT:   to_memory_config,
  // CPP-NEXT:   /*memory_config=*/ttnn::MemoryConfig{
  // CPP-NEXT:     ttnn::TensorMemoryLayout::HEIGHT_SHARDED,
  // CPP-NEXT:     ttnn::BufferType::L1,
  // CPP-NEXT:     ttnn::ShardSpec{ttnn::CoreGrid{8, 1}, {32, 32}}});
  %6 = "ttnn.to_memory_config"(%5) : (tensor<32x32xf32, #m>) -> tensor<32x32xf32, #s> loc("shards")
  // A sharded operand hands on its memory, not its sharding.
  // PY-NEXT: add = ttnn.add(shards, relu, memory_config=ttnn.DRAM_MEMORY_CONFIG)
  // PY-NEXT: ttnn.deallocate(shards)
  // PY-NEXT: return add
  %7 = "ttnn.add"(%6, %4) : (tensor<32x32xf32, #s>, tensor<32x32xf32, #t>) -> tensor<32x32xf32, #t>
  "ttnn.deallocate"(%6) <{force = false}> : (tensor<32x32xf32, #s>) -> ()
  return %7 : tensor<32x32xf32, #t>
}
// PY: def create_inputs_for_results(device):
// PY-NEXT: x = ttnn.rand([32, 32], device, dtype=ttnn.float32)
// PY-NEXT: return [x]
// CPP: std::vector<ttnn::Tensor> create_inputs_for_results(ttnn::Device device) {
// CPP-NEXT: ttnn::Tensor x = ttnn::rand(/*shape=*/{32, 32}, device, /*dtype=*/ttnn::DataType::FLOAT32);
// CPP-NEXT: return {x};

// Defaults are left out, optional tensors found by their place, names kept apart.
// PY: def arguments(arg0, arg1, ttnn_, device):
// CPP: std::vector<ttnn::Tensor> arguments(ttnn::Tensor arg0, ttnn::Tensor arg1, ttnn::Tensor ttnn_, ttnn::Device device) {
func.func @arguments(%x: tensor<32x32xf32, #t>, %y: tensor<32x32xf32, #t>, %z: tensor<1x32xf32, #t> loc("ttnn")) -> (tensor<32x32xf32, #t>, tensor<32x64xf32, #t>) {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  // PY-NEXT: full = ttnn.full(shape=[32, 32], fill_value=0.1, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
  %f = "ttnn.full"(%d) <{shape = #ttnn.shape<32x32>, fill_value = 0.1 : f32}> : (!ttnn.device) -> tensor<32x32xf32, #t>
  // PY-NEXT: linear = ttnn.linear(arg0, arg1, bias=ttnn_, transpose_b=True)
  // CPP: ttnn::Tensor linear = ttnn::linear(arg0, arg1, ttnn_, /*transpose_a=*/false, /*transpose_b=*/true);
  %0 = "ttnn.linear"(%x, %y, %z) <{transpose_a = false, transpose_b = true}> : (tensor<32x32xf32, #t>, tensor<32x32xf32, #t>, tensor<1x32xf32, #t>) -> tensor<32x32xf32, #t>
  // PY-NEXT: linear_1 = ttnn.linear(arg0, linear, activation="relu")
  // CPP-NEXT: ttnn::Tensor linear_1 = ttnn::linear(
  %1 = "ttnn.linear"(%x, %0) <{transpose_a = false, transpose_b = false, activation = "relu"}> : (tensor<32x32xf32, #t>, tensor<32x32xf32, #t>) -> tensor<32x32xf32, #t>
  // PY-NEXT: concat = ttnn.concat([arg0, linear_1], dim=1)
  // CPP: ttnn::Tensor concat = ttnn::concat({arg0, linear_1}, /*dim=*/1);
  %2 = "ttnn.concat"(%x, %1) <{dim = 1 : si32}> : (tensor<32x32xf32, #t>, tensor<32x32xf32, #t>) -> tensor<32x64xf32, #t>
  // PY-NEXT: values, indices = ttnn.sort(linear_1, descending=True, dtype=[ttnn.float32, ttnn.uint32])
  // CPP-NEXT: auto [values, indices] = ttnn::sort(
  // CPP-NEXT: linear_1,
  // CPP-NEXT: /*dim=*/-1,
  // CPP-NEXT: /*descending=*/true,
  // CPP-NEXT: /*stable=*/false,
  // CPP-NEXT: /*dtype=*/{ttnn::DataType::FLOAT32, ttnn::DataType::UINT32});
  %3:2 = "ttnn.sort"(%1) <{dim = -1 : si8, descending = true, stable = false}> : (tensor<32x32xf32, #t>) -> (tensor<32x32xf32, #t>, tensor<32x32xui32, #i>)
  // PY-NEXT: clamp = ttnn.clamp(values, min=0.0)
  // CPP-NEXT: ttnn::Tensor clamp = ttnn::clamp(values, /*min=*/0.0);
  %4 = "ttnn.clamp_scalar"(%3#0) <{min = 0.0 : f32, max = 0x7F800000 : f32}> : (tensor<32x32xf32, #t>) -> tensor<32x32xf32, #t>
  // PY-NEXT: return clamp, concat
  // CPP-NEXT: return {clamp, concat};
  return %4, %2 : tensor<32x32xf32, #t>, tensor<32x64xf32, #t>
}

// Random numbers of the host are drawn on a device.
// PY: def create_inputs_for_weight(device):
// PY-NEXT: w = ttnn.rand([32, 32], device, dtype=ttnn.float32, layout=ttnn.ROW_MAJOR_LAYOUT)
// PY-NEXT: w_host = ttnn.from_device(w)
// PY-NEXT: return [w_host]
// CPP: std::vector<ttnn::Tensor> create_inputs_for_weight(ttnn::Device device) {
// CPP-NEXT: ttnn::Tensor w = ttnn::rand(
// CPP: ttnn::Tensor w_host = ttnn::from_device(w);
// CPP-NEXT: return {w_host};
func.func @weight(%w: tensor<32x32xf32, #h> {ttir.name = "w"}) -> tensor<32x32xf32, #h> {
  %0 = "ttnn.exp"(%w) : (tensor<32x32xf32, #h>) -> tensor<32x32xf32, #h>
  return %0 : tensor<32x32xf32, #h>
}

// PY: print("results:", results(*create_inputs_for_results(device)))
// PY-NEXT: print("arguments:", arguments(*create_inputs_for_arguments(device), device))
// PY-NEXT: print("weight:", weight(*create_inputs_for_weight(device)))
// PY: if __name__ == "__main__":
// CPP: TTNN_PROGRAM(results, create_inputs_for_results)
// CPP-NEXT: TTNN_PROGRAM(arguments, create_inputs_for_arguments)
// CPP-NEXT: TTNN_PROGRAM(weight, create_inputs_for_weight)
// CPP: int main() {
// CPP-NEXT: return ttnn::run_programs(1, 1);
