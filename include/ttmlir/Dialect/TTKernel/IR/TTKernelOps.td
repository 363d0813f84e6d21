//===- TTKernelOps.td - ops of the TTKernel dialect --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_TTKERNEL_IR_TTKERNELOPS_TD
#define TTMLIR_DIALECT_TTKERNEL_IR_TTKERNELOPS_TD

include "mlir/IR/AttrTypeBase.td"
include "ttmlir/Dialect/TTKernel/IR/TTKernelEnums.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/Families/Facts.td"
include "ttmlir/Dialect/Families/Rows.td"
include "ttmlir/Dialect/TTCore/IR/TTCoreAttrs.td"

def TTKernel_Dialect : Dialect {
  let name = "ttkernel";
  let summary = "The functions that the kernels of a Tensix core call, one op each.";
  let description = [{
    A kernel is a function that one thread of a core runs. An op is the call of the function of its name, with its
    operands in order. Counts, numbers of tiles and of registers are of type index.
  }];
  let cppNamespace = "::mlir::tt::ttkernel";
  let dependentDialects = ["::mlir::tt::ttcore::TTCoreDialect"];
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = "void registerTypes();";
}

def TTKernel_CB : TypeDef<TTKernel_Dialect, "CB"> {
  let mnemonic = "cb";
  let summary = "A circular buffer by its port: how many elements it has, and of which type.";
  let parameters = (ins "uint64_t":$numElements, "::mlir::Type":$elementType);
  let assemblyFormat = "`<` $numElements `,` $elementType `>`";
}

def TTKernel_TensorAccessorArgs : TypeDef<TTKernel_Dialect, "TensorAccessorArgs"> {
  let mnemonic = "TensorAccessorArgs";
  let summary = "Compile-time arguments that say where the pages of a buffer are.";
}
def TTKernel_TensorAccessor : TypeDef<TTKernel_Dialect, "TensorAccessor"> {
  let mnemonic = "TensorAccessor";
  let summary = "A buffer that is addressed by the numbers of its pages.";
}

class TTKernel_Op<string mnemonic, string text, dag operands = (ins), list<Trait> traits = []>
    : Op<TTKernel_Dialect, mnemonic, traits> {
  let description = [{
    A call of the function of this name in the kernel API; operands are its arguments, in order. `docs/runtime.md` lists the
    functions that the simulated cores have.
  }];
  let summary = text;
  let arguments = operands;
  let assemblyFormat = "`(` operands `)` attr-dict `:` functional-type(operands, results)";
}

//===----------------------------------------------------------------------===//
// Arguments and circular buffers
//===----------------------------------------------------------------------===//

def TTKernel_GetCompileTimeArgValOp
    : TTKernel_Op<"get_compile_time_arg_val", "An argument that is known when the kernel is compiled.",
                  (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$arg_index), [Pure]> {
  let results = (outs AnyTypeOf<[TTKernel_CB, I32]>:$result);
  let assemblyFormat = "`(` $arg_index `)` attr-dict `:` type($result)";
}

class TTKernel_CBStep<string mnemonic, string text>
    : TTKernel_Op<mnemonic, text, (ins TTKernel_CB:$cb, Index:$numPages)>;
def TTKernel_CBWaitFrontOp : TTKernel_CBStep<"cb_wait_front", "Waits until the given number of pages is available.">;
def TTKernel_CBPopFrontOp : TTKernel_CBStep<"cb_pop_front", "Frees the given number of pages.">;
def TTKernel_CBReserveBackOp : TTKernel_CBStep<"cb_reserve_back", "Waits until the given number of pages is free.">;
def TTKernel_CBPushBackOp : TTKernel_CBStep<"cb_push_back", "Hands the given number of pages to the consumer.">;

class TTKernel_Value<string mnemonic, string text, dag operands = (ins), list<Trait> traits = []>
    : TTKernel_Op<mnemonic, text, operands, traits> {
  let results = (outs Index:$result);
}

def TTKernel_GetCommonArgValOp
    : TTKernel_Value<"get_common_arg_val", "Argument that is the same on all cores, known when the kernel starts.",
                     (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$arg_index), [Pure]> {
  let assemblyFormat = "`(` $arg_index `)` attr-dict `:` type($result)";
}
def TTKernel_GetWritePtrOp : TTKernel_Value<"get_write_ptr", "The address of the room that was reserved.",
                                            (ins TTKernel_CB:$cb)>;
def TTKernel_GetReadPtrOp : TTKernel_Value<"get_read_ptr", "The address of the pages that were waited for.",
                                           (ins TTKernel_CB:$cb)>;

//===----------------------------------------------------------------------===//
// Data movement. Addresses have type index, including those of the network.
//===----------------------------------------------------------------------===//

def TTKernel_MyLogicalXOp : TTKernel_Value<"my_logical_x_", "The column of this core in the grid.", (ins), [Pure]>;
def TTKernel_MyLogicalYOp : TTKernel_Value<"my_logical_y_", "The row of this core in the grid.", (ins), [Pure]>;
def TTKernel_GetNocAddrOp : TTKernel_Value<"get_noc_addr", "The network's address of an address of a core.",
                                           (ins Index:$x, Index:$y, Index:$address), [Pure]>;
def TTKernel_GetNocAddrFromBankIDOp
    : TTKernel_Value<"get_noc_addr_from_bank_id", "The network's address of an address in a bank of DRAM.",
                     (ins Index:$bank, Index:$address), [Pure]>;
def TTKernel_TensorAccessorArgsOp
    : TTKernel_Op<"TensorAccessorArgs", "The arguments of an accessor, from a compile-time argument on.",
                  (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$arg_index), [Pure]> {
  let results = (outs TTKernel_TensorAccessorArgs:$result);
  let assemblyFormat = "`(` $arg_index `)` attr-dict `:` type($result)";
}
def TTKernel_TensorAccessorOp
    : TTKernel_Op<"TensorAccessor", "The accessor of the buffer at an address, with pages of a number of bytes.",
                  (ins TTKernel_TensorAccessorArgs:$args, Index:$address, Index:$pageBytes), [Pure]> {
  let results = (outs TTKernel_TensorAccessor:$result);
}
def TTKernel_TensorAccessorGetNocAddrOp
    : TTKernel_Value<"tensor_accessor.get_noc_addr", "The network's address of a page, plus an offset in bytes.",
                     (ins TTKernel_TensorAccessor:$accessor, Index:$page, Index:$offset), [Pure]>;
def TTKernel_GetNocMulticastAddrOp
    : TTKernel_Value<"get_noc_multicast_addr", "The network's address of an address of all cores of a rectangle.",
                     (ins Index:$xStart, Index:$yStart, Index:$xEnd, Index:$yEnd, Index:$address), [Pure]>;
def TTKernel_NocAsyncReadOp : TTKernel_Op<"noc_async_read", "Begins to read from another core.",
                                          (ins Index:$source, Index:$target, Index:$bytes)>;
def TTKernel_NocAsyncReadBarrierOp : TTKernel_Op<"noc_async_read_barrier", "Waits until all reads are done.">;
def TTKernel_NocAsyncWriteOp : TTKernel_Op<"noc_async_write", "Begins to write to another core.",
                                           (ins Index:$source, Index:$target, Index:$bytes)>;
def TTKernel_NocAsyncWriteBarrierOp : TTKernel_Op<"noc_async_write_barrier", "Waits until all writes are done.">;
def TTKernel_NocAsyncWriteMulticastOp
    : TTKernel_Op<"noc_async_write_multicast", "Begins to write to the other cores of a rectangle.",
                  (ins Index:$source, Index:$target, Index:$bytes, Index:$cores)>;

def TTKernel_LoadFromL1Op
    : TTKernel_Op<"load_from_l1", "The 32 bits of this core's L1 at an address, plus an offset in words.",
                  (ins Index:$address, Index:$offset)> {
  let results = (outs I32:$result);
}

// Other chips are reached by their row-major number in the mesh.
def TTKernel_ExperimentalGetMyDeviceIdOp
    : TTKernel_Value<"experimental.get_my_device_id", "The number of this chip in the mesh.", (ins), [Pure]>;
def TTKernel_ExperimentalFabricFastWriteAnyLenOp
    : TTKernel_Op<"experimental.fabric_fast_write_any_len", "Writes to a core or a bank of DRAM of a chip of the mesh.",
                  (ins Index:$device, Index:$target, Index:$source, Index:$bytes)>;

def TTKernel_GetSemaphoreOp : TTKernel_Value<"get_semaphore", "The address of a semaphore of every core.",
                                             (ins Index:$id), [Pure]>;
def TTKernel_NocSemaphoreIncOp : TTKernel_Op<"noc_semaphore_inc", "Adds to a semaphore of a core.",
                                             (ins Index:$target, Index:$value)>;
def TTKernel_NocSemaphoreSetOp : TTKernel_Op<"noc_semaphore_set", "Sets a semaphore of this core.",
                                             (ins Index:$address, Index:$value)>;
def TTKernel_NocSemaphoreSetMulticastOp
    : TTKernel_Op<"noc_semaphore_set_multicast", "Writes a semaphore of this core to the other cores of a rectangle.",
                  (ins Index:$source, Index:$target, Index:$cores)>;
def TTKernel_NocSemaphoreWaitOp : TTKernel_Op<"noc_semaphore_wait", "Waits until a semaphore of this core has a value.",
                                              (ins Index:$address, Index:$value)>;

//===----------------------------------------------------------------------===//
// The registers between unpacker, math and packer
//===----------------------------------------------------------------------===//

def TTKernel_TileRegsAcquireOp : TTKernel_Op<"tile_regs_acquire", "Takes the registers for math.">;
def TTKernel_TileRegsCommitOp : TTKernel_Op<"tile_regs_commit", "Hands the registers to the packer.">;
def TTKernel_TileRegsWaitOp : TTKernel_Op<"tile_regs_wait", "Waits until math has handed the registers over.">;
def TTKernel_TileRegsReleaseOp : TTKernel_Op<"tile_regs_release", "Gives the registers back to math.">;

def TTKernel_InitSFPUOp : TTKernel_Op<"init_sfpu", "Sets unpacker, math and packer up for work on registers.",
                                      (ins TTKernel_CB:$icb, TTKernel_CB:$ocb),
                  [TT_ConfiguresUnit]>;
def TTKernel_BinaryOpInitCommonOp
    : TTKernel_Op<"binary_op_init_common", "Sets unpacker, math and packer up for the matrix unit on two tiles.",
                  (ins TTKernel_CB:$in0, TTKernel_CB:$in1, TTKernel_CB:$out),
                  [TT_ConfiguresUnit]>;
def TTKernel_CopyTileInitOp : TTKernel_Op<"copy_tile_init", "Sets the unpacker up to copy from a buffer.",
                                          (ins TTKernel_CB:$cb),
                  [TT_ConfiguresUnit]>;
def TTKernel_CopyTileOp : TTKernel_Op<"copy_tile", "Copies a tile of a buffer to a register.",
                                      (ins TTKernel_CB:$cb, Index:$tile, Index:$dst)>;
def TTKernel_PackTileOp : TTKernel_Op<"pack_tile", "Writes a register to a place of the room that was reserved.",
                                      (ins Index:$dst, TTKernel_CB:$cb, Index:$tile)>;

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

class TTKernel_Block<string mnemonic, string text, list<Trait> traits = []>
    : TTKernel_Op<mnemonic, text, (ins TTKernel_CB:$icb, Index:$tiles, TTKernel_CB:$ocb), traits>;
def TTKernel_TilizeInitOp : TTKernel_Block<"tilize_init", "Sets the unpacker up to make tiles of rows.",
                                           [TT_ConfiguresUnit]>;
def TTKernel_TilizeBlockOp : TTKernel_Block<"tilize_block", "Makes a row of tiles of 32 rows of elements.">;
def TTKernel_UntilizeInitOp : TTKernel_Op<"untilize_init", "Sets the unpacker up to make rows of tiles.",
                                          (ins TTKernel_CB:$icb),
                  [TT_ConfiguresUnit]>;
def TTKernel_UntilizeBlockOp : TTKernel_Block<"untilize_block", "Makes 32 rows of elements of a row of tiles.">;

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

/// An op of the matrix unit on two tiles of circular buffers.
multiclass TTKernel_Tiles<string mnemonic> {
  def InitOp : TTKernel_Op<mnemonic # "_init", "Sets unpacker and math up for " # mnemonic # ".",
                           (ins TTKernel_CB:$in0, TTKernel_CB:$in1), [TT_ConfiguresUnit, TT_Row]>;
  def Op : TTKernel_Op<mnemonic, "Elementwise of two tiles of buffers, to a register.",
                       (ins TTKernel_CB:$in0, TTKernel_CB:$in1, Index:$tile0, Index:$tile1, Index:$dst), [TT_Row]>;
}
defm TTKernel_AddTiles : TTKernel_Tiles<"add_tiles">;
defm TTKernel_MulTiles : TTKernel_Tiles<"mul_tiles">;
defm TTKernel_SubTiles : TTKernel_Tiles<"sub_tiles">;

def TTKernel_MatmulInitOp : TTKernel_Op<"mm_init", "Sets unpacker and math up for matmul_tiles.",
                                        (ins TTKernel_CB:$in0, TTKernel_CB:$in1, TTKernel_CB:$out),
                  [TT_ConfiguresUnit]>;
def TTKernel_MatmulTilesOp
    : TTKernel_Op<"matmul_tiles", "Adds the product of two tiles to a register.",
                  (ins TTKernel_CB:$in0, TTKernel_CB:$in1, Index:$tile0, Index:$tile1, Index:$dst)>;
def TTKernel_MatmulBlockInitOp
    : TTKernel_Op<"mm_block_init", "Sets unpacker and math up for matmul_block.",
                  (ins TTKernel_CB:$in0, TTKernel_CB:$in1, TTKernel_CB:$out, Index:$transpose, Index:$ct, Index:$rt,
                       Index:$kt),
                  [TT_ConfiguresUnit]>;
def TTKernel_ExperimentalMatmulBlockOp
    : TTKernel_Op<"experimental.matmul_block", "Adds kt products of a column of tiles and a row of tiles to registers.",
                  (ins TTKernel_CB:$in0, TTKernel_CB:$in1, Index:$tile0, Index:$tile1, Index:$dst, Index:$transpose,
                       Index:$ct, Index:$rt, Index:$kt, Index:$stride)>;
def TTKernel_PackReconfigL1AccOp : TTKernel_Op<"pack_reconfig_l1_acc", "Sets whether the packer accumulates in L1.",
                                               (ins Index:$enable)>;

def TTKernel_ReduceInitOp
    : TTKernel_Op<"reduce_init", "Sets unpacker, math and packer up for reduce_tile.",
                  (ins TTKernel_CB:$in, TTKernel_CB:$scaler, TTKernel_CB:$out, TTKernel_ReduceType:$reduce_type,
                       TTKernel_ReduceDim:$reduce_dim),
                  [TT_ConfiguresUnit]>;
def TTKernel_ReduceTileOp
    : TTKernel_Op<"reduce_tile", "Joins a reduced tile with a register.",
                  (ins TTKernel_CB:$in, TTKernel_CB:$scaler, Index:$tile, Index:$scalerTile, Index:$dst,
                       TTKernel_ReduceType:$reduce_type, TTKernel_ReduceDim:$reduce_dim)>;
def TTKernel_ReduceUninitOp : TTKernel_Op<"reduce_uninit", "Undoes reduce_init.", (ins), [TT_ConfiguresUnit]>;

def TTKernel_UnaryBcastInitOp : TTKernel_Op<"unary_bcast_init", "Sets unpacker and math up for unary_bcast.",
                                            (ins TTKernel_CB:$icb, TTKernel_CB:$ocb, TTKernel_BcastType:$bcast_type),
                  [TT_ConfiguresUnit]>;
def TTKernel_UnaryBcastOp : TTKernel_Op<"unary_bcast", "Copies a tile that repeats its column, row or value.",
                                        (ins TTKernel_CB:$icb, Index:$tile, Index:$dst,
                                             TTKernel_BcastType:$bcast_type)>;

//===----------------------------------------------------------------------===//
// Math on registers
//===----------------------------------------------------------------------===//

/// An op and the init that configures math for it. Operands are register numbers; the last one holds the result.
class TTKernel_Init<string mnemonic, list<Trait> traits = []>
    : TTKernel_Op<mnemonic # "_init", "Sets math up for " # mnemonic # ".", (ins), [TT_ConfiguresUnit] # traits>;
multiclass TTKernel_Unary<string mnemonic> {
  def InitOp : TTKernel_Init<mnemonic, [TT_Row]>;
  def Op : TTKernel_Op<mnemonic, "Elementwise, in its place.", (ins Index:$dst), [TT_Row]>;
}
multiclass TTKernel_Binary<string mnemonic> {
  def InitOp : TTKernel_Init<mnemonic, [TT_Row]>;
  def Op : TTKernel_Op<mnemonic, "Elementwise of two registers.", (ins Index:$lhs, Index:$rhs, Index:$dst), [TT_Row]>;
}

// Those of ttmlir/Target/TTMetal/TileOps.def.
defm TTKernel_AbsTile : TTKernel_Unary<"abs_tile">;
defm TTKernel_AcosTile : TTKernel_Unary<"acos_tile">;
defm TTKernel_AsinTile : TTKernel_Unary<"asin_tile">;
defm TTKernel_AtanTile : TTKernel_Unary<"atan_tile">;
defm TTKernel_AtanhTile : TTKernel_Unary<"atanh_tile">;
defm TTKernel_BitwiseNotTile : TTKernel_Unary<"bitwise_not_tile">;
defm TTKernel_CeilTile : TTKernel_Unary<"ceil_tile">;
defm TTKernel_CosTile : TTKernel_Unary<"cos_tile">;
defm TTKernel_ErfTile : TTKernel_Unary<"erf_tile">;
defm TTKernel_ErfcTile : TTKernel_Unary<"erfc_tile">;
defm TTKernel_ExpTile : TTKernel_Unary<"exp_tile">;
defm TTKernel_Expm1Tile : TTKernel_Unary<"expm1_tile">;
defm TTKernel_FloorTile : TTKernel_Unary<"floor_tile">;
defm TTKernel_GeluTile : TTKernel_Unary<"gelu_tile">;
defm TTKernel_HardsigmoidTile : TTKernel_Unary<"hardsigmoid_tile">;
defm TTKernel_LogTile : TTKernel_Unary<"log_tile">;
defm TTKernel_Log1pTile : TTKernel_Unary<"log1p_tile">;
defm TTKernel_LogicalNotUnaryTile : TTKernel_Unary<"logical_not_unary_tile">;
defm TTKernel_NegativeTile : TTKernel_Unary<"negative_tile">;
defm TTKernel_RecipTile : TTKernel_Unary<"recip_tile">;
defm TTKernel_ReluTile : TTKernel_Unary<"relu_tile">;
defm TTKernel_RsqrtTile : TTKernel_Unary<"rsqrt_tile">;
defm TTKernel_SigmoidTile : TTKernel_Unary<"sigmoid_tile">;
defm TTKernel_SignTile : TTKernel_Unary<"sign_tile">;
defm TTKernel_SiluTile : TTKernel_Unary<"silu_tile">;
defm TTKernel_SinTile : TTKernel_Unary<"sin_tile">;
defm TTKernel_SqrtTile : TTKernel_Unary<"sqrt_tile">;
defm TTKernel_TanTile : TTKernel_Unary<"tan_tile">;
defm TTKernel_TanhTile : TTKernel_Unary<"tanh_tile">;
defm TTKernel_AsinhTile : TTKernel_Unary<"asinh_tile">;
defm TTKernel_CbrtTile : TTKernel_Unary<"cbrt_tile">;
defm TTKernel_IsfiniteTile : TTKernel_Unary<"isfinite_tile">;
defm TTKernel_Log2Tile : TTKernel_Unary<"log2_tile">;
defm TTKernel_MishTile : TTKernel_Unary<"mish_tile">;
defm TTKernel_Relu6Tile : TTKernel_Unary<"relu6_tile">;

defm TTKernel_AddBinaryTile : TTKernel_Binary<"add_binary_tile">;
defm TTKernel_Atan2BinaryTile : TTKernel_Binary<"atan2_binary_tile">;
defm TTKernel_BitwiseAndBinaryTile : TTKernel_Binary<"bitwise_and_binary_tile">;
defm TTKernel_BitwiseOrBinaryTile : TTKernel_Binary<"bitwise_or_binary_tile">;
defm TTKernel_BitwiseXorBinaryTile : TTKernel_Binary<"bitwise_xor_binary_tile">;
defm TTKernel_DivBinaryTile : TTKernel_Binary<"div_binary_tile">;
defm TTKernel_EqBinaryTile : TTKernel_Binary<"eq_binary_tile">;
defm TTKernel_GeBinaryTile : TTKernel_Binary<"ge_binary_tile">;
defm TTKernel_GtBinaryTile : TTKernel_Binary<"gt_binary_tile">;
defm TTKernel_LeBinaryTile : TTKernel_Binary<"le_binary_tile">;
defm TTKernel_BinaryLeftShiftTile : TTKernel_Binary<"binary_left_shift_tile">;
defm TTKernel_BinaryLogicalRightShiftTile : TTKernel_Binary<"binary_logical_right_shift_tile">;
defm TTKernel_LtBinaryTile : TTKernel_Binary<"lt_binary_tile">;
defm TTKernel_BinaryMaxTile : TTKernel_Binary<"binary_max_tile">;
defm TTKernel_BinaryMinTile : TTKernel_Binary<"binary_min_tile">;
defm TTKernel_MulBinaryTile : TTKernel_Binary<"mul_binary_tile">;
defm TTKernel_NeBinaryTile : TTKernel_Binary<"ne_binary_tile">;
defm TTKernel_PowerBinaryTile : TTKernel_Binary<"power_binary_tile">;
defm TTKernel_SubBinaryTile : TTKernel_Binary<"sub_binary_tile">;
defm TTKernel_LogicalAndBinaryTile : TTKernel_Binary<"logical_and_binary_tile">;
defm TTKernel_LogicalOrBinaryTile : TTKernel_Binary<"logical_or_binary_tile">;
defm TTKernel_LogicalXorBinaryTile : TTKernel_Binary<"logical_xor_binary_tile">;
defm TTKernel_RemainderBinaryTile : TTKernel_Binary<"remainder_binary_tile">;

def TTKernel_WhereTileInitOp : TTKernel_Init<"where_tile">;
def TTKernel_WhereTileOp : TTKernel_Op<"where_tile", "Selects elements of two registers by a third one.",
                                       (ins Index:$condition, Index:$trueValue, Index:$falseValue, Index:$dst)>;

def TTKernel_CheckPositionsTileInitOp : TTKernel_Init<"check_positions_tile">;
def TTKernel_CheckPositionsTileOp
    : TTKernel_Op<"check_positions_tile", "A register, if the first elements of two others are positions below a size.",
                  (ins Index:$input, Index:$least, Index:$greatest, Index:$dst, I64Attr:$size, StrAttr:$op_name)>;
def TTKernel_ClampTileInitOp : TTKernel_Init<"clamp_tile">;
def TTKernel_ClampTileOp : TTKernel_Op<"clamp_tile", "Elements between two bounds, in their place.",
                                       (ins Index:$dst, F32Attr:$min, F32Attr:$max)>;
def TTKernel_FillTileInitOp : TTKernel_Init<"fill_tile">;
def TTKernel_FillTileOp : TTKernel_Op<"fill_tile", "One value for all elements of a register.",
                                      (ins Index:$dst, F32Attr:$value)>;
def TTKernel_TypecastTileInitOp
    : TTKernel_Op<"typecast_tile_init", "Sets math up for typecast_tile.",
                  (ins TTCore_DataTypeAttr:$from, TTCore_DataTypeAttr:$to),
                  [TT_ConfiguresUnit]>;
def TTKernel_TypecastTileOp
    : TTKernel_Op<"typecast_tile", "A register in another data format, in its place.",
                  (ins Index:$dst, TTCore_DataTypeAttr:$from, TTCore_DataTypeAttr:$to)>;

#endif // TTMLIR_DIALECT_TTKERNEL_IR_TTKERNELOPS_TD
