//===- D2MOps.td - generics, layouts and thread ops --------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_IR_D2MOPS_TD
#define TTMLIR_DIALECT_D2M_IR_D2MOPS_TD

include "ttmlir/Dialect/D2M/IR/D2MTileOps.td"
include "ttmlir/Dialect/Families/Facts.td"

class D2M_Op<string mnemonic, string text, list<Trait> traits = []> : Op<D2M_Dialect, mnemonic, traits> {
  let description = [{
    Part of a program of cores: `d2m.generic` gives each core of a grid its shards and buffers, and its regions move tiles and
    compute with them.
  }];
  let summary = text;
}
class D2M_MovementOp<string mnemonic, string text, list<Trait> traits = []>
    : D2M_Op<mnemonic, text, [D2M_GenericRegionDatamovementOpTrait] # traits>;

//===----------------------------------------------------------------------===//
// Work on a grid of cores
//===----------------------------------------------------------------------===//

def D2M_GenericOp : D2M_Op<"generic", "Work that every core of a grid does on its part of the operands.",
                           [AttrSizedOperandSegments, NoTerminator]> {
  let description = [{
    The loop nest `block_factors` x `grid` runs over blocks of the operands, which `indexing_maps` choose, an operand's
    map having as many results as its grid has dimensions. Each region is the program of one of `threads`. Where the
    three lists are empty, the threads say themselves what they read and write.
  }];
  let arguments = (ins Variadic<AnyRankedTensorOrMemRef>:$inputs, Variadic<AnyRankedTensorOrMemRef>:$outputs,
      Variadic<AnyType>:$additionalArgs, TTCore_GridAttr:$grid, I64ArrayAttr:$block_factors,
      AffineMapArrayAttr:$indexing_maps, D2M_IteratorTypeArrayAttr:$iterator_types, D2M_ThreadArrayAttr:$threads,
      OptionalAttr<TTCore_FabricConnectionConfigAttr>:$fabricConnectionConfig);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$regions);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The thread whose program a region is.
    ::mlir::tt::d2m::ThreadAttr threadOf(::mlir::Region &region) {
      return ::llvm::cast<::mlir::tt::d2m::ThreadAttr>(getThreads()[region.getRegionNumber()]);
    }
  }];
}

def D2M_SpatialOp : D2M_Op<"spatial", "Generics that run at the same time, each on a range of cores.",
                           [AttrSizedOperandSegments, NoTerminator]> {
  let arguments = (ins Variadic<AnyRankedTensorOrMemRef>:$inputs, Variadic<AnyRankedTensorOrMemRef>:$outputs,
      D2M_CoreRangeArrayAttr:$grid_ranges);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region VariadicRegion<AnyRegion>:$regions);
  let assemblyFormat = [{
    attr-dict `\n` ` ` ` ` ` ` ` ` `ins` `(` $inputs (`:` type($inputs)^)? `)` `\n`
    ` ` ` ` ` ` ` ` `outs` `(` $outputs `:` type($outputs) `)` ` ` $regions (`:` type($results)^)?
  }];
  let hasVerifier = 1;
}

class D2M_Yield<string mnemonic, string text> : D2M_Op<mnemonic, text, [Pure, Terminator]> {
  let arguments = (ins Variadic<AnyRankedTensor>:$values);
  let assemblyFormat = "$values attr-dict `:` `(` type($values) `)`";
}
def D2M_YieldOp : D2M_Yield<"yield", "Ends the program of a thread with its results.">;
def D2M_SpatialYieldOp : D2M_Yield<"spatial_yield", "Ends a region of spatial with its results.">;

//===----------------------------------------------------------------------===//
// Tensors, layouts and views
//===----------------------------------------------------------------------===//

def D2M_EmptyOp : D2M_Op<"empty", "A tensor of no particular values."> {
  let arguments = (ins OptionalAttr<AffineMapAttr>:$virtualGridInverseMapping,
      OptionalAttr<AffineMapAttr>:$virtualGridForwardMapping);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "`(` `)` attr-dict `:` type($result)";
}

def D2M_ToLayoutOp : D2M_Op<"to_layout", "The values of a tensor in the layout of another.", [TT_MovesValues]> {
  let arguments = (ins Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$input,
      Arg<AnyRankedTensorOrMemRef, "", [MemWrite]>:$output);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$input `,` $output `:` type($input) `into` type($output) attr-dict (`->` type($results)^)?";
  let hasVerifier = 1;
}
class D2M_Transfer<string mnemonic, string text> : D2M_Op<mnemonic, text, [TT_MovesValues]> {
  let arguments = (ins Arg<AnyRankedTensorOrAnyMemRef, "", [MemRead]>:$input,
      Arg<AnyRankedTensorOrAnyMemRef, "", [MemWrite]>:$output, TTCore_MetalLayoutAttr:$layout);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = [{
    $input `,` $output `layout` `=` $layout attr-dict `:` type($input) `into` type($output) (`->` type($results)^)?
  }];
  let hasVerifier = 1;
}
def D2M_ToDeviceOp : D2M_Transfer<"to_device", "A tensor of the host, written to the device in a layout.">;
def D2M_ToHostOp : D2M_Transfer<"to_host", "A tensor of the device, which has a layout, read by the host.">;

def D2M_ViewLayoutOp : D2M_Op<"view_layout", "The same values, reached through an affine map.", [Pure]> {
  let arguments = (ins AnyRankedTensorOrMemRef:$input, AffineMapAttr:$remapping,
      DefaultValuedAttr<BoolAttr, "false">:$reinterpretLayout);
  let results = (outs AnyRankedTensorOrMemRef:$result);
  let assemblyFormat = "$input `remapping` `=` $remapping attr-dict `:` type($input) `->` type($result)";
}
def D2M_CompositeViewOp : D2M_Op<"composite_view", "Some tensors as one, joined along a dimension.", [Pure]> {
  let arguments = (ins Variadic<AnyRankedTensorOrMemRef>:$inputs, SI32Attr:$dim,
      OptionalAttr<DenseI64ArrayAttr>:$logicalSizes);
  let results = (outs AnyRankedTensorOrMemRef:$result);
}
def D2M_MaskOp : D2M_Op<"mask", "A tensor whose values outside of its logical shape are replaced."> {
  let arguments = (ins Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$input,
      Arg<AnyRankedTensorOrMemRef, "", [MemWrite]>:$output, DenseI64ArrayAttr:$logicalShape,
      TTCore_OOBValAttr:$fill_value);
  let results = (outs AnyRankedTensorOrMemRef:$result);
  let assemblyFormat = [{
    $input `,` $output `logical_shape` `=` $logicalShape `fill_value` `=` $fill_value attr-dict
    `:` type($input) `into` type($output) `->` type($result)
  }];
}
def D2M_MeshShardOp : D2M_Op<"mesh_shard", "Splits a tensor over a mesh, or joins its parts.", [Pure, TT_MovesValues]> {
  let arguments = (ins AnyRankedTensorOrMemRef:$input, TTCore_MeshShardTypeAttr:$shard_type,
      TTCore_MeshShardDirectionAttr:$shard_direction, DenseI64ArrayAttr:$shard_shape, DenseI64ArrayAttr:$shard_dims);
  let results = (outs AnyRankedTensorOrMemRef:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def D2M_OperandAliasOp : D2M_Op<"operand_alias", "The buffer of an operand under another type."> {
  let arguments = (ins AnyNon0RankedMemRef:$memref);
  let results = (outs AnyNon0RankedMemRef:$aliasedBuffer);
  let assemblyFormat = "$memref attr-dict `:` type($memref) `->` type($aliasedBuffer)";
}
def D2M_ScratchAllocateOp : D2M_Op<"scratch_allocate", "A buffer for values between ops."> {
  let arguments = (ins I64Attr:$slot);
  let results = (outs AnyMemRef:$result);
  let assemblyFormat = "attr-dict `:` type($result)";
}
def D2M_ScratchInitOp : D2M_Op<"scratch_init", "The buffer that scratch buffers are parts of."> {
  let arguments = (ins AnyMemRef:$scratch);
  let assemblyFormat = "$scratch attr-dict `:` type($scratch)";
}

//===----------------------------------------------------------------------===//
// The position of a thread, and its arguments
//===----------------------------------------------------------------------===//

def D2M_Dim : ConfinedAttr<I64Attr, [IntMinValue<0>]>;

class D2M_Index<string mnemonic, string text, dag more = (ins)> : D2M_Op<mnemonic, text, [Pure]> {
  let arguments = !con((ins D2M_Dim:$dim), more);
  let results = (outs Index:$result);
  let assemblyFormat = "`(` $dim `)` attr-dict `:` type($result)";
}
def D2M_BlockIndexOp : D2M_Index<"block_index", "Index of the current block in a dimension of the loop nest.">;
def D2M_BlockOffsetOp : D2M_Index<"block_offset", "The first block of a dimension that this core works on.">;
def D2M_CoreIndexOp : D2M_Index<"core_index", "The place of this core in a dimension of the grid.",
                                (ins OptionalAttr<AffineMapAttr>:$phys_to_virt_map)>;
def D2M_GetBlockFactorOp : D2M_Index<"get_block_factor", "Number of blocks of a dimension that a core works on.">;
def D2M_IterIndexOp : D2M_Index<"iter_index", "The iteration of a dimension of the loop nest.">;
def D2M_MeshPositionOp : D2M_Index<"mesh_position", "The place of this chip in a dimension of the mesh."> {
  let assemblyFormat = ?;
}

def D2M_GetArgOp : D2M_Op<"get_arg", "An argument of the kernel.", [Pure]> {
  let arguments = (ins D2M_Dim:$operand_index, OptionalAttr<D2M_ResolutionStageAttr>:$resolution_stage);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    `(` $operand_index `)` (`resolution_stage` `=` $resolution_stage^)? attr-dict `:` type($result)
  }];
}
def D2M_GetCBOp : D2M_Op<"get_cb", "A circular buffer of the kernel.", [Pure]> {
  let arguments = (ins D2M_Dim:$cb_operand_idx, OptionalAttr<D2M_ResolutionStageAttr>:$resolution_stage);
  let results = (outs D2M_CB:$result);
  let assemblyFormat = [{
    `(` $cb_operand_idx `)` (`resolution_stage` `=` $resolution_stage^)? attr-dict `:` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Circular buffers
//===----------------------------------------------------------------------===//

/// Allocates space for a block (reserve) and publishes it (push); waits for a block (wait) and frees its space (pop).
class D2M_CBValue<string mnemonic, string text> : D2M_Op<mnemonic, text, [TT_AwaitsBlock]> {
  let arguments = (ins D2M_CB:$cb);
  let results = (outs AnyRankedTensorOrMemRef:$result);
  let assemblyFormat = "$cb attr-dict `:` type($cb) `->` type($result)";
  let hasVerifier = 1;
}
class D2M_CBStep<string mnemonic, string text> : D2M_Op<mnemonic, text, [TT_ReleasesBlock]> {
  let arguments = (ins D2M_CB:$cb);
  let assemblyFormat = "$cb attr-dict `:` type($cb)";
}
def D2M_ReserveOp : D2M_CBValue<"reserve", "Room for a block in a circular buffer, once there is some.">;
def D2M_WaitOp : D2M_CBValue<"wait", "The next block of a circular buffer, once it is there.">;
def D2M_PushOp : D2M_CBStep<"push", "Hands the block that was reserved to the other side.">;
def D2M_PopOp : D2M_CBStep<"pop", "Gives the room of the block that was waited for back.">;

def D2M_StoreOp : D2M_Op<"store", "Writes a tensor to another.", [SameTypeOperands]> {
  let arguments = (ins AnyRankedTensor:$dst, AnyRankedTensor:$src);
  let assemblyFormat = "$dst `,` $src attr-dict `:` type($dst)";
}

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

def D2M_DMAReadOp : D2M_MovementOp<"dma_read", "Begins to read from another memory.",
                                   [TT_CopiesMemory, AttrSizedOperandSegments]> {
  let arguments = (ins Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$src, Variadic<Index>:$srcIndices,
      Arg<AnyRankedTensorOrMemRef, "", [MemWrite]>:$dst, Variadic<Index>:$dstIndices, I64Attr:$numElems,
      OptionalAttr<AffineMapAttr>:$tensorAccessorPageMap);
  let results = (outs D2M_MemTx:$result);
  let assemblyFormat = [{
    $src `[` $srcIndices `]` `,` $dst (`[` $dstIndices^ `]`)? `,` `<` $numElems `>` attr-dict
    `:` `(` type($src) `,` type($dst) `)` `->` qualified(type($result))
  }];
}
def D2M_DMAWriteOp : D2M_MovementOp<"dma_write", "Begins to write to another memory, of one core or of many.",
                                    [TT_CopiesMemory, AttrSizedOperandSegments]> {
  let arguments = (ins Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$src, Variadic<Index>:$srcIndices,
      Arg<AnyRankedTensorOrMemRef, "", [MemWrite]>:$dst, Variadic<Index>:$dstIndices,
      Variadic<Index>:$mcastStartIndex, Variadic<Index>:$mcastShape, Variadic<Index>:$startDevice,
      Variadic<Index>:$deviceMcastShape, I64Attr:$numElems, OptionalAttr<AffineMapAttr>:$tensorAccessorPageMap);
  let results = (outs D2M_MemTx:$result);
  let assemblyFormat = [{
    $src (`[` $srcIndices^ `]`)? `,` $dst (`[` $dstIndices^ `]`)?
    (`core` `[` $mcastStartIndex^ `]` `mcast` `[` $mcastShape `]`)? (`startDevice` `[` $startDevice^ `]`)?
    (`deviceMcastShape` `[` $deviceMcastShape^ `]`)? `,` `<` $numElems `>` attr-dict
    `:` `(` type($src) `,` type($dst) `)` `->` qualified(type($result))
  }];
}
def D2M_DMAWaitOp : D2M_MovementOp<"dma_wait", "Waits for a transfer.", [TT_CopiesMemory]> {
  let arguments = (ins D2M_MemTx:$mem_tx);
  let assemblyFormat = "$mem_tx attr-dict `:` qualified(type($mem_tx))";
}
def D2M_NullTxOp : D2M_MovementOp<"null_tx", "A transfer that is over.", [Pure, TT_CopiesMemory]> {
  let results = (outs D2M_MemTx:$result);
  let assemblyFormat = "attr-dict `:` qualified(type($result))";
}

def D2M_RemoteLoadOp : D2M_MovementOp<"remote_load",
                                      "Reads a block of an operand, possibly of other cores, to a buffer of this core.",
                                      [AttrSizedOperandSegments]> {
  let arguments = (ins Arg<Optional<AnyRankedTensorOrMemRef>, "", [MemWrite]>:$localBuffer,
      Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$memref, Variadic<Index>:$indices, Optional<D2M_CB>:$cb,
      Variadic<Index>:$mcastStartIndex, Variadic<Index>:$mcastShape, Variadic<Index>:$mcastDims);
  let results = (outs Optional<AnyRankedTensorOrMemRef>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}
def D2M_RemoteStoreOp : D2M_MovementOp<"remote_store",
                                       "Writes a block of this core to an operand, possibly on other cores.",
                                       [AttrSizedOperandSegments]> {
  let arguments = (ins Arg<AnyRankedTensorOrMemRef, "", [MemWrite]>:$memref, Variadic<Index>:$indices,
      Arg<Optional<AnyRankedTensorOrMemRef>, "", [MemRead]>:$localBuffer, Optional<D2M_CB>:$cb,
      Variadic<Index>:$startDevice, Variadic<Index>:$deviceMcastShape, Optional<D2M_GlobalSemaphore>:$semaphore,
      Variadic<Index>:$semaphoreIndices);
  let results = (outs Optional<AnyRankedTensorOrMemRef>:$result);
  let assemblyFormat = [{
    $memref `[` $indices `]` ($localBuffer^)? (`from` $cb^)? (`devices` `startDevice` `[` $startDevice^ `]`)?
    (`deviceMcastShape` `[` $deviceMcastShape^ `]`)? (`semaphore` `increment` $semaphore^ `[` $semaphoreIndices `]`)?
    attr-dict `:` type($memref) (`,` type($localBuffer)^)? (`from` type($cb)^)? (`->` type($result)^)?
  }];
  let hasVerifier = 1;
}
def D2M_LocalCopyOp : D2M_MovementOp<"local_copy", "Copies between buffers of this core.",
                                     [AttrSizedOperandSegments]> {
  let arguments = (ins Arg<Optional<AnyRankedTensorOrMemRef>, "", [MemRead]>:$src,
      Arg<Optional<AnyRankedTensorOrMemRef>, "", [MemWrite]>:$dst, Optional<D2M_CB>:$srcCb, Optional<D2M_CB>:$dstCb,
      AffineMapArrayAttr:$indexing_maps);
  let results = (outs Optional<AnyTypeOf<[AnyRankedTensorOrMemRef, D2M_MemTx]>>:$result);
  let assemblyFormat = [{
    (`from` $srcCb^ `into` $dstCb)? ($src^ `,` $dst)? `indexing_maps` `=` $indexing_maps attr-dict
    `:` type(operands) (`->` type($result)^)?
  }];
}
def D2M_IndexedRowCopyOp : D2M_MovementOp<"indexed_row_copy", "Copies rows that indices choose."> {
  let arguments = (ins DeviceL1MemRef:$indices, DeviceMemRef:$src, DeviceMemRef:$dst, DeviceL1MemRef:$indexScratch,
      DeviceL1MemRef:$rowScratch, I64Attr:$numRows, I64Attr:$rowWidth, DenseI64ArrayAttr:$indicesShape);
  let assemblyFormat = [{
    $indices `,` $src `,` $dst `scratch` $indexScratch `,` $rowScratch `<` $numRows `,` $rowWidth `>` attr-dict
    `:` type($indices) `,` type($src) `,` type($dst) `,` type($indexScratch) `,` type($rowScratch)
  }];
}
def D2M_EmbeddingOp : D2M_MovementOp<"embedding", "Rows of a table that indices choose."> {
  let arguments = (ins AnyRankedTensor:$indices, AnyRankedTensor:$weight, AnyRankedTensor:$output, I64Attr:$numIndices,
      I64Attr:$embeddingDim, DenseI64ArrayAttr:$indicesShape);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $indices `,` $weight `,` $output `<` $numIndices `,` $embeddingDim `>` attr-dict
    `:` type($indices) `,` type($weight) `,` type($output) `->` type($result)
  }];
}

//===----------------------------------------------------------------------===//
// Semaphores
//===----------------------------------------------------------------------===//

def D2M_Semaphore : AnyTypeOf<[D2M_LocalSemaphore, D2M_GlobalSemaphore]>;

def D2M_CreateGlobalSemaphoreOp : D2M_Op<"create_global_semaphore", "A semaphore in a buffer of every core."> {
  let arguments = (ins AnyRankedTensorOrMemRef:$input, OptionalAttr<UI32Attr>:$value);
  let results = (outs D2M_GlobalSemaphore:$result);
  let assemblyFormat = "`(` $input `)` attr-dict `:` type($input) `->` type($result)";
}
def D2M_CreateLocalSemaphoreOp : D2M_Op<"create_local_semaphore", "A semaphore of a generic."> {
  let arguments = (ins UI32Attr:$initialValue);
  let results = (outs D2M_LocalSemaphore:$result);
  let assemblyFormat = "prop-dict attr-dict `->` type($result)";
}
def D2M_ResetGlobalSemaphoreOp : D2M_Op<"reset_global_semaphore", "Sets a semaphore on every core."> {
  let arguments = (ins D2M_GlobalSemaphore:$semaphore, UI32Attr:$value);
  let assemblyFormat = "`(` $semaphore `)` attr-dict `:` type($semaphore)";
}
class D2M_SemaphoreChange<string mnemonic, string text> : D2M_Op<mnemonic, text, [AttrSizedOperandSegments]> {
  let arguments = (ins D2M_Semaphore:$semaphore, Index:$value, Variadic<Index>:$dstCoreIndex,
      Variadic<Index>:$mcastShape, Variadic<Index>:$startDevice, Variadic<Index>:$deviceMcastShape);
  let assemblyFormat = [{
    $semaphore `,` $value (`,` `core` `[` $dstCoreIndex^ `]`)? (`mcast` `[` $mcastShape^ `]`)?
    (`startDevice` `[` $startDevice^ `]`)? (`deviceMcastShape` `[` $deviceMcastShape^ `]`)? attr-dict
    `:` type($semaphore)
  }];
}
def D2M_SemaphoreSetOp : D2M_SemaphoreChange<"semaphore_set", "Sets a semaphore, of this core or of others.">;
def D2M_SemaphoreIncOp : D2M_SemaphoreChange<"semaphore_inc", "Adds to a semaphore, of this core or of others.">;
def D2M_SemaphoreWaitOp : D2M_Op<"semaphore_wait", "Waits until a semaphore has a value."> {
  let arguments = (ins D2M_Semaphore:$semaphore, Index:$value, Optional<Index>:$resetValue);
  let assemblyFormat = "$semaphore `,` $value (`reset` $resetValue^)? attr-dict `:` type($semaphore)";
}
def D2M_DeviceSynchronizeOp : D2M_Op<"device_synchronize", "Waits for other chips.", [AttrSizedOperandSegments]> {
  let arguments = (ins D2M_GlobalSemaphore:$sync_semaphore, Variadic<Index>:$senderStartDevice,
      Variadic<Index>:$senderDeviceMcastShape, Variadic<Index>:$coreIndices, I32Attr:$numReceivers);
}

//===----------------------------------------------------------------------===//
// Other ops of threads
//===----------------------------------------------------------------------===//

def D2M_CBOrBuffer : AnyTypeOf<[AnyRankedTensorOrMemRef, D2M_CB]>;

def D2M_FillArangeTileOp : D2M_Op<"fill_arange_tile", "Fills a tile with the places of its columns."> {
  let arguments = (ins D2M_CBOrBuffer:$output);
  let assemblyFormat = "`to` $output attr-dict `:` type($output)";
}
def D2M_WriteColMaskTileOp : D2M_Op<"write_col_mask_tile", "A tile of ones in its first columns."> {
  let arguments = (ins AnyTypeOf<[Index, AnyInteger]>:$validCols, D2M_CBOrBuffer:$output);
  let assemblyFormat = "`(` $validCols `)` `to` $output attr-dict `:` type($validCols) `,` type($output)";
}
def D2M_WriteRowMaskTileOp : D2M_Op<"write_row_mask_tile", "A tile of ones in its first rows."> {
  let arguments = (ins AnyTypeOf<[Index, AnyInteger]>:$validRows, D2M_CBOrBuffer:$output);
  let assemblyFormat = "`(` $validRows `)` `to` $output attr-dict `:` type($validRows) `,` type($output)";
}
def D2M_SetL1AccumulateOp : D2M_Op<"set_l1_accumulate", "Sets whether the packer adds tiles to those in L1."> {
  let arguments = (ins I32:$enable);
  let assemblyFormat = "`(` $enable `)` attr-dict";
}
def D2M_UnpackStallOnPackOp : D2M_Op<"unpack_stall_on_pack", "Stalls the unpacker until the packer is done."> {
  let assemblyFormat = "attr-dict";
}
def D2M_PrintOp : D2M_Op<"print", "Prints values as a format string says."> {
  let arguments = (ins StrAttr:$fmt, Variadic<AnyType>:$argv);
  let assemblyFormat = "`(` $fmt (`,` $argv^)? `)` attr-dict `:` functional-type($argv, results)";
}

#endif // TTMLIR_DIALECT_D2M_IR_D2MOPS_TD
