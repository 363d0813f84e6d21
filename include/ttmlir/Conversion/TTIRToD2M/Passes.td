//===- Passes.td - lowering of TTIR to D2M -----------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_CONVERSION_TTIRTOD2M_PASSES_TD
#define TTMLIR_CONVERSION_TTIRTOD2M_PASSES_TD

include "mlir/Pass/PassBase.td"

def TTIRWidenPaddedBlocks : Pass<"ttir-widen-padded-blocks", "::mlir::func::FuncOp"> {
  let summary = "Compute rows of block formats that end within a block in floats";
  let description = [{
    16 elements of a row share an exponent. Where a row has another number of elements, its last block contains padding
    of the tile, which holds what the op makes of zeros: the reciprocal is infinite, and the elements next to it would be
    lost. Such ops are computed in floats, and the padding is zeroed before their results are rounded. The floats are
    bf16 where registers have 16 bits, which also the matrix unit reads, and f32 otherwise.

    Before:
    ```mlir
    %0 = "ttir.reciprocal"(%x) : (tensor<32x40x!blocks>) -> tensor<32x40x!blocks>
    ```
    After:
    ```mlir
    %0 = "ttir.typecast"(%x) : (tensor<32x40x!blocks>) -> tensor<32x40xbf16>
    %1 = "ttir.reciprocal"(%0) : (tensor<32x40xbf16>) -> tensor<32x40xbf16>
    %2 = "ttir.typecast"(%1) : (tensor<32x40xbf16>) -> tensor<32x40xf32>
    %3 = "ttir.where"(%positions, %2, %zero) : (tensor<1x40xf32>, tensor<32x40xf32>, tensor<1x1xf32>) -> ...
    %4 = "ttir.typecast"(%3) : (tensor<32x40xf32>) -> tensor<32x40x!blocks>
    ```
  }];
}

def TTIRCastTTNNLayouts : Pass<"ttir-cast-ttnn-layouts", "::mlir::func::FuncOp"> {
  let summary = "Give arguments and results layouts of TTNN, and take them from the ops in between";
  let description = [{
    For kernels inside of TTNN programs (`ttnn-mode`). A tensor of the signature that has no layout gets tiles in DRAM.

    Before:
    ```mlir
    func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.exp"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    ```
    After:
    ```mlir
    func.func @f(%x: tensor<32x32xf32, #dram>) -> tensor<32x32xf32, #dram> {
      %0 = ttir.ttnn_metal_layout_cast %x : tensor<32x32xf32, #dram> -> tensor<32x32xf32>
      %1 = "ttir.exp"(%0) : (tensor<32x32xf32>) -> tensor<32x32xf32>
      %2 = ttir.ttnn_metal_layout_cast %1 : tensor<32x32xf32> -> tensor<32x32xf32, #dram>
    ```
  }];
  let dependentDialects = ["::mlir::tt::ttir::TTIRDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

// A pass on modules: constants become symbols.
def TTIRToD2M : Pass<"ttir-to-d2m", "::mlir::ModuleOp"> {
  let summary = "Convert TTIR to generics on L1 buffers";
  let description = [{
    A tensor becomes a buffer of tiles: its leading dimensions are collapsed into rows, rows and columns are padded to
    multiples of 32 and cut into equal parts, one per core, as many as the device's grid and the numbers of tiles allow.
    Arguments come as memrefs of the host, are written to the device and tilized there when they are first used;
    results are untilized and read back. An elementwise op is a generic whose cores work on their own tiles. Ops that
    have no such form yet are named.

    Before:
    ```mlir
    func.func @f(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
      %0 = "ttir.sigmoid"(%x) : (tensor<32x32xf32>) -> tensor<32x32xf32>
    ```
    After (`!tiles` is memref<1x1x1x1x!ttcore.tile<32x32, f32>, #ttcore.shard<4096x4096, 1>, #l1>):
    ```mlir
    func.func @f(%x: memref<32x32xf32>) -> memref<32x32xf32> {
      d2m.to_device %x, %rows layout = #layout : memref<32x32xf32> into memref<1x1x32x32xf32, ...>
      d2m.generic {...} ins(%rows : ...) outs(%tiles : !tiles) { ... d2m.tile_tilize_block ... }
      d2m.generic {...} ins(%tiles : !tiles) outs(%result : !tiles) { ... d2m.tile_sigmoid ... }
    ```
  }];
  let options = [
    ListOption<"overrideDeviceShape", "override-device-shape", "int64_t",
               "Rows and columns of cores to use, instead of the whole worker grid">,
    Option<"numStreamBuffers", "num-stream-buffers", "unsigned", "2",
           "Buffers of a circular buffer that is read from other cores">,
    Option<"disableToLayoutFolding", "disable-tolayout-folding", "bool", "false",
           "Convert tiles to rows again, also where the tiles came from rows">,
    ListOption<"matmulInterchange", "matmul-interchange", "int64_t",
               "Order of the loops of a product, from outside: a permutation of rows 0, columns 1 and steps 2, the last">,
    ListOption<"availableL1AddrRange", "available-l1-addr-range", "int64_t",
               "First address of L1 for buffers, and the one behind the last; none: all that the firmware leaves">,
    Option<"testAssumel1Capacity", "test-assume-l1-capacity", "int64_t", "0",
           "Bytes of L1 that a core is taken to have; 0: those of the chip">,
    Option<"collapseTensors2D", "collapse-tensors-2d", "bool", "true",
           "Distribute the leading dimensions as rows; otherwise the part of a core is whole matrices or a part of one">,
    Option<"disableL1Acc", "disable-l1-acc", "bool", "false",
           "Add the parts of a product in registers; otherwise the packer adds them in L1">,
    Option<"testBufferSizePolicy", "test-buffer-size-policy", "::mlir::tt::d2m::BufferSizePolicy",
           "::mlir::tt::d2m::BufferSizePolicy::Auto", "Size of the blocks of products", [{TT_D2M_BUFFER_SIZE_VALUES}]>,
    Option<"ttnnMode", "ttnn-mode", "bool", "false",
           "Arguments and results are tensors of TTNN (ttir-cast-ttnn-layouts), not of the host">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
                           "::mlir::tt::d2m::D2MDialect", "::mlir::tt::ttnn::TTNNDialect"];
}

#endif // TTMLIR_CONVERSION_TTIRTOD2M_PASSES_TD
