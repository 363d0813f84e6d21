// RUN: ttmlir-opt %s | FileCheck %s
// RUN: ttmlir-opt %s -o %t.mlir
// RUN: ttmlir-opt %t.mlir | diff %t.mlir -
// RUN: ttmlir-opt %s --mlir-print-op-generic | ttmlir-opt | diff %t.mlir -
// RUN: ttmlir-opt %s --emit-bytecode | ttmlir-opt | diff %t.mlir -

#dram = #ttnn.buffer_type<dram>
#f = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, f32>, #dram>, <interleaved>>
#b = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bf16>, #dram>, <interleaved>>
#p = #ttnn.ttnn_layout<(d0, d1) -> (d0, d1), <1x1>, memref<1x2x!ttcore.tile<32x32, bfp_bf8>, #dram>, <interleaved>>
func.func @io(%dev: !ttnn.device) -> tensor<30x64x!ttcore.tile<32x32, bfp_bf8>, #p> {
  // CHECK: "ttnn.load_tensor"{{.*}} <{file_path = "arg0.tensorbin"}>
  %0 = "ttnn.load_tensor"(%dev) <{file_path = "arg0.tensorbin"}> : (!ttnn.device) -> tensor<30x64xf32, #f>
  // CHECK: ttnn.typecast
  %1 = "ttnn.typecast"(%0) : (tensor<30x64xf32, #f>) -> tensor<30x64xbf16, #b>
  // CHECK: ttnn.typecast
  %2 = "ttnn.typecast"(%1) : (tensor<30x64xbf16, #b>) -> tensor<30x64x!ttcore.tile<32x32, bfp_bf8>, #p>
  // CHECK: "ttnn.dump_tensor"{{.*}} <{file_path = "out.tensorbin"}>
  "ttnn.dump_tensor"(%1) <{file_path = "out.tensorbin"}> : (tensor<30x64xbf16, #b>) -> ()
  return %2 : tensor<30x64x!ttcore.tile<32x32, bfp_bf8>, #p>
}
