// RUN: rm -rf %t && ttmlir-opt %s --ttnn-common-to-emitpy-pipeline="tensor-directory=values target-module=true" --mlir-print-debuginfo | ttmlir-translate --mlir-to-python --tensor-directory=%t | FileCheck %s --check-prefix=PY
// RUN: ls %t | FileCheck %s --check-prefix=FILES
// RUN: ttmlir-opt %s --ttnn-common-to-emitc-pipeline="tensor-directory=values target-dylib=true" --mlir-print-debuginfo | ttmlir-translate --mlir-to-cpp --tensor-directory=%t | FileCheck %s --check-prefix=CPP
// RUN: ttmlir-opt %s --ttnn-common-to-emitpy-pipeline="load-input-tensors-from-disk=true tensor-load-directory=in tensor-load-file-prefix=x" | ttmlir-translate --mlir-to-python --tensor-directory=%t | FileCheck %s --check-prefix=LOAD

#t = #ttnn.ttnn_layout<(d0) -> (0, d0), <1x1>, memref<1x1x!ttcore.tile<32x32, f32>, #ttnn.buffer_type<dram>>, <interleaved>>
!t = tensor<2xf32, #t>

// FILES: add_b.tensorbin
// FILES-NEXT: layer_0_weight.tensorbin
// FILES-NOT: tensorbin

// PY: from pathlib import Path
// PY: import ttnn
// PY: TENSORS = Path(__file__).parent / "values"

// What others keep is evaluated once.
// PY: def scale(arg0, device):
// PY-NEXT: full = ttnn.full(shape=[2], fill_value=2.0, dtype=ttnn.float32, layout=ttnn.TILE_LAYOUT, device=device)
// PY-NEXT: multiply = ttnn.multiply(arg0, full)
// PY-NEXT: return multiply
func.func private @scale(%w: !t) -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %2 = "ttnn.constant"(%d) <{value = dense<2.0> : tensor<2xf32>, dtype = #ttcore.supportedDataTypes<f32>}> : (!ttnn.device) -> !t
  %0 = "ttnn.multiply"(%w, %2) : (!t, !t) -> !t
  return %0 : !t
}

// Constants are read once; equal ones share a file.
// PY: def main_constants(device):
// PY-NEXT: layer_0_weight = ttnn.load_tensor(TENSORS / "layer_0_weight.tensorbin", device=device)
// PY-NEXT: add_b = ttnn.load_tensor(TENSORS / "add_b.tensorbin", device=device)
// PY-NEXT: add_b_1 = ttnn.load_tensor(TENSORS / "add_b.tensorbin", device=device)
// PY-NEXT: return layer_0_weight, add_b, add_b_1
// PY: def main_(x, device):
// PY-NEXT: layer_0_weight, add_b, add_b_1 = ttnn.load_cached(main_constants, [], device)
// PY-NEXT: scaled = ttnn.load_cached(scale, [x], device)
// PY-NEXT: add = ttnn.add(scaled, layer_0_weight)
// PY-NEXT: add_1 = ttnn.add(add, add_b)
// PY-NEXT: add_2 = ttnn.add(add_1, add_b_1)
// PY-NEXT: return add_2
// PY-NOT: def main()
// CPP: auto [layer_0_weight, add_b, add_b_1] = ttnn::load_cached<3>(main_constants, {}, device);
// CPP-NEXT: ttnn::Tensor scaled = ttnn::load_cached(scale, {x}, device);
// CPP-NOT: int main
// LOAD: x = ttnn.load_tensor(Path(__file__).parent / "in/x0.tensorbin", device=device)
func.func @main(%x: !t {ttir.name = "x"}) -> !t {
  %d = "ttnn.get_device"() : () -> !ttnn.device
  %w = "ttnn.constant"(%d) <{value = dense<[1.0, 2.0]> : tensor<2xf32>, dtype = #ttcore.supportedDataTypes<f32>}> : (!ttnn.device) -> !t loc("layer.0/weight")
  %1 = "ttnn.constant"(%d) <{value = dense<[3.0, 4.0]> : tensor<2xf32>, dtype = #ttcore.supportedDataTypes<f32>}> : (!ttnn.device) -> !t
  %2 = "ttnn.constant"(%d) <{value = dense<[3.0, 4.0]> : tensor<2xf32>, dtype = #ttcore.supportedDataTypes<f32>}> : (!ttnn.device) -> !t
  %c = ttcore.load_cached(@scale, [%x]) : (!t) -> !t loc("scaled")
  %3 = "ttnn.add"(%c, %w) : (!t, !t) -> !t
  "ttnn.deallocate"(%w) <{force = false}> : (!t) -> ()
  %4 = "ttnn.add"(%3, %1) : (!t, !t) -> !t
  %5 = "ttnn.add"(%4, %2) : (!t, !t) -> !t
  return %5 : !t
}
