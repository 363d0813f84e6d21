//===- Passes.td - lowering of D2M to TTKernel and TTMetal -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_D2MTOTTMETAL_PASSES_TD
#define TTMLIR_CONVERSION_D2MTOTTMETAL_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertD2MToTTKernel : Pass<"convert-d2m-to-ttkernel", "::mlir::func::FuncOp"> {
  let summary = "Convert thread functions to kernels";
  let description = [{
    Blocks of circular buffers become counts of pages. A load of a tile that goes to a register is copy_tile, a store of
    a register is pack_tile, an op on tiles its call and what sets math up for it (ttmlir/Target/TTMetal/TileOps.def).

    Before:
    ```mlir
    %0 = d2m.get_cb(0) : !d2m.cb<memref<1x1x!ttcore.tile<32x32, f32>, #l1>>
    %1 = d2m.wait %0 : ...
    ```
    After:
    ```mlir
    %0 = ttkernel.get_compile_time_arg_val(0) : !ttkernel.cb<1024, !ttcore.tile<32x32, f32>>
    ttkernel.cb_wait_front(%0, %c1) : (!ttkernel.cb<1024, !ttcore.tile<32x32, f32>>, index) -> ()
    ```
  }];
  let options = [Option<"maxDstPhysicalSizeTiles", "max-dst-physical-size-tiles", "unsigned", "0",
                        "Tiles of the destination registers that a subblock of a product may take; 0: all">,
                 Option<"useTileMatmul", "use-tile-matmul", "bool", "false",
                        "Multiply tile by tile, instead of by matmul_block">];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::tt::ttkernel::TTKernelDialect"];
}

// The phases of products.
def D2M_MathFidelity : Option<"mathFidelity", "math-fidelity", "::mlir::tt::ttmetal::MathFidelity",
                              "::mlir::tt::ttmetal::MathFidelity::HiFi4", "Phases of a product",
                              [{::llvm::cl::values(
                                clEnumValN(::mlir::tt::ttmetal::MathFidelity::LoFi, "LoFi", "1 phase"),
                                clEnumValN(::mlir::tt::ttmetal::MathFidelity::HiFi2, "HiFi2", "2 phases"),
                                clEnumValN(::mlir::tt::ttmetal::MathFidelity::HiFi3, "HiFi3", "3 phases"),
                                clEnumValN(::mlir::tt::ttmetal::MathFidelity::HiFi4, "HiFi4", "4 phases"))}]>;

def ConvertD2MToTTMetal : Pass<"convert-d2m-to-ttmetal"> {
  let summary = "Convert buffers, transfers and generics to commands";
  let description = [{
    Generics whose threads are functions become programs; the number of an operand is the port of its circular buffer.

    Before:
    ```mlir
    %0 = memref.alloc() {address = 1024 : i64} : !tiles
    d2m.generic {..., threads = [#d2m.thread<compute, @compute_kernel0>]} ins(%0 : !tiles) outs(%1 : !tiles) { }
    ```
    After:
    ```mlir
    %0 = ttmetal.create_buffer {address = 1024 : i64} : !tiles
    ttmetal.enqueue_program(%0, %1) cbs(%0, %1) {cb_ports = array<i64: 0, 1>, kernelConfigs = [
      #ttmetal.compute_config<@compute_kernel0, ...>]} : (!tiles, !tiles) cbs(!tiles, !tiles)
    ```
  }];
  let options = [D2M_MathFidelity];
  let dependentDialects = ["::mlir::tt::ttmetal::TTMetalDialect"];
}

def ConvertD2MToTTNN : Pass<"convert-d2m-to-ttnn", "::mlir::ModuleOp"> {
  let summary = "Convert buffers and generics to tensors and generic ops of TTNN";
  let description = [{
    The kernels, ports and arguments are those of `convert-d2m-to-ttmetal`. A buffer that is an operand becomes a tensor
    that is sharded over the same cores; its circular buffer is in its memory. A circular buffer that one program alone
    uses is no tensor.

    Before:
    ```mlir
    %0 = ttir.ttnn_metal_layout_cast %x : tensor<32x32xf32, #l1> -> !tiles
    %1 = memref.alloc() : !tiles
    d2m.generic {..., threads = [#d2m.thread<compute, @compute_kernel0>]} ins(%0 : !tiles) outs(%1 : !tiles) { }
    %2 = ttir.ttnn_metal_layout_cast %1 : !tiles -> tensor<32x32xf32, #l1>
    ```
    After:
    ```mlir
    %0 = "ttnn.empty"(%device) <{shape = #ttnn.shape<32x32>}> : (!ttnn.device) -> tensor<32x32xf32, #l1>
    "ttnn.generic"(%x, %0) <{program = #ttnn.program<kernels = [#ttnn.compute_kernel<symbol_ref = @compute_kernel0, ...>],
                             cbs = [...]>}> : (tensor<32x32xf32, #l1>, tensor<32x32xf32, #l1>) -> ()
    ```
  }];
  let options = [D2M_MathFidelity];
  let dependentDialects = ["::mlir::tt::ttmetal::TTMetalDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

def TTNNEmbedKernels : Pass<"ttnn-embed-kernels", "::mlir::ModuleOp"> {
  let summary = "Write the sources of kernels into the generic ops that run them";
  let description = [{
    After `convert-ttkernel-to-emitc`. The functions of the kernels are erased.

    Before:
    ```mlir
    "ttnn.generic"(%x, %y) <{program = #ttnn.program<kernels = [#ttnn.compute_kernel<symbol_ref = @compute_kernel0, ...
    ```
    After:
    ```mlir
    "ttnn.generic"(%x, %y) <{program = #ttnn.program<kernels = [#ttnn.source_compute_kernel<source = "...", ...
    ```
  }];
}

def ConvertTTKernelToEmitC : Pass<"convert-ttkernel-to-emitc", "::mlir::func::FuncOp"> {
  let summary = "Convert kernels to C++";
  let description = [{
    An op becomes the call of the function of its name; loops and index arithmetic become those of C++.

    Before:
    ```mlir
    ttkernel.cb_wait_front(%cb, %c1) : (!ttkernel.cb<1024, !ttcore.tile<32x32, f32>>, index) -> ()
    ```
    After:
    ```mlir
    emitc.call_opaque "cb_wait_front"(%cb, %c1) : (!emitc.opaque<"uint32_t">, !emitc.size_t) -> ()
    ```
  }];
  let dependentDialects = ["::mlir::emitc::EmitCDialect"];
}

#endif // TTMLIR_CONVERSION_D2MTOTTMETAL_PASSES_TD
