//===- D2MTileOps.td - computations on tiles ---------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0

#ifndef TTMLIR_DIALECT_D2M_IR_D2MTILEOPS_TD
#define TTMLIR_DIALECT_D2M_IR_D2MTILEOPS_TD

include "mlir/Interfaces/SideEffectInterfaces.td"
include "ttmlir/Dialect/D2M/IR/D2MAttrs.td"
include "ttmlir/Dialect/Families/Facts.td"
include "ttmlir/Dialect/Families/Rows.td"

class D2M_ComputeOp<string mnemonic, string text, dag operands, dag produced, list<Trait> traits>
    : Op<D2M_Dialect, mnemonic, [D2M_GenericRegionComputeOpTrait] # traits> {
  let description = [{
    Stands in the compute region of `d2m.generic` and works on tiles that are in the registers of a core.
  }];
  let summary = text;
  let arguments = operands;
  let results = produced;
}
class D2M_TileOp<string mnemonic, string text, dag operands, list<Trait> traits = [Pure]>
    : D2M_ComputeOp<"tile_" # mnemonic, text, operands, (outs TTCore_TileType:$result), traits>;

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

class D2M_Unary<string mnemonic> : D2M_TileOp<mnemonic, "Elementwise " # mnemonic # " of a tile.",
                                              (ins TTCore_TileType:$input), [Pure, TT_Row]>;
class D2M_Binary<string mnemonic, list<Trait> traits = [Pure, TT_Row]>
    : D2M_TileOp<mnemonic, "Elementwise " # mnemonic # " of two tiles.",
                 (ins TTCore_TileType:$lhs, TTCore_TileType:$rhs), traits>;
class D2M_BinaryOrScalar<string mnemonic, list<Trait> traits = [Pure, TT_Row]>
    : D2M_TileOp<mnemonic, "Elementwise " # mnemonic # " of a tile and a tile or scalar.",
                 (ins TTCore_TileType:$lhs, TileOrScalar:$rhs), traits>;
class D2M_Bits<string mnemonic> : D2M_TileOp<mnemonic, "Elementwise " # mnemonic # " of tiles or scalars.",
                                             (ins TileOrScalar:$lhs, TileOrScalar:$rhs), [Pure, TT_Row]>;

def D2M_TileAbsOp : D2M_Unary<"abs">;
def D2M_TileAcosOp : D2M_Unary<"acos">;
def D2M_TileAsinOp : D2M_Unary<"asin">;
def D2M_TileAsinhOp : D2M_Unary<"asinh">;
def D2M_TileAtanOp : D2M_Unary<"atan">;
def D2M_TileAtanhOp : D2M_Unary<"atanh">;
def D2M_TileBitwiseNotOp : D2M_Unary<"bitwise_not">;
def D2M_TileCbrtOp : D2M_Unary<"cbrt">;
def D2M_TileCeilOp : D2M_Unary<"ceil">;
def D2M_TileCosOp : D2M_Unary<"cos">;
def D2M_TileEqzOp : D2M_Unary<"eqz">;
def D2M_TileErfOp : D2M_Unary<"erf">;
def D2M_TileErfcOp : D2M_Unary<"erfc">;
def D2M_TileExpOp : D2M_Unary<"exp">;
def D2M_TileExp2Op : D2M_Unary<"exp2">;
def D2M_TileExpm1Op : D2M_Unary<"expm1">;
def D2M_TileFloorOp : D2M_Unary<"floor">;
def D2M_TileFracOp : D2M_Unary<"frac">;
def D2M_TileGeluOp : D2M_Unary<"gelu">;
def D2M_TileGezOp : D2M_Unary<"gez">;
def D2M_TileGtzOp : D2M_Unary<"gtz">;
def D2M_TileHardsigmoidOp : D2M_Unary<"hardsigmoid">;
def D2M_TileIsfiniteOp : D2M_Unary<"isfinite">;
def D2M_TileLezOp : D2M_Unary<"lez">;
def D2M_TileLogOp : D2M_Unary<"log">;
def D2M_TileLog1pOp : D2M_Unary<"log1p">;
def D2M_TileLog2Op : D2M_Unary<"log2">;
def D2M_TileLogicalNotOp : D2M_Unary<"logical_not">;
def D2M_TileLtzOp : D2M_Unary<"ltz">;
def D2M_TileMishOp : D2M_Unary<"mish">;
def D2M_TileNegativeOp : D2M_Unary<"negative">;
def D2M_TileNezOp : D2M_Unary<"nez">;
def D2M_TileRecipOp : D2M_Unary<"recip">;
def D2M_TileReluOp : D2M_Unary<"relu">;
def D2M_TileRelu6Op : D2M_Unary<"relu6">;
def D2M_TileRsqrtOp : D2M_Unary<"rsqrt">;
def D2M_TileSigmoidOp : D2M_Unary<"sigmoid">;
def D2M_TileSignOp : D2M_Unary<"sign">;
def D2M_TileSignbitOp : D2M_Unary<"signbit">;
def D2M_TileSiluOp : D2M_Unary<"silu">;
def D2M_TileSinOp : D2M_Unary<"sin">;
def D2M_TileSoftsignOp : D2M_Unary<"softsign">;
def D2M_TileSqrtOp : D2M_Unary<"sqrt">;
def D2M_TileSquareOp : D2M_Unary<"square">;
def D2M_TileTanOp : D2M_Unary<"tan">;
def D2M_TileTanhOp : D2M_Unary<"tanh">;
def D2M_TileTruncOp : D2M_Unary<"trunc">;

def D2M_TileAtan2Op : D2M_Binary<"atan2">;
def D2M_TileEqOp : D2M_Binary<"eq">;
def D2M_TileGeOp : D2M_Binary<"ge">;
def D2M_TileGtOp : D2M_Binary<"gt">;
def D2M_TileLeOp : D2M_Binary<"le">;
def D2M_TileLogicalAndOp : D2M_Binary<"logical_and">;
def D2M_TileLogicalOrOp : D2M_Binary<"logical_or">;
def D2M_TileLogicalXorOp : D2M_Binary<"logical_xor">;
def D2M_TileLtOp : D2M_Binary<"lt">;
def D2M_TileMaximumOp : D2M_Binary<"maximum", [Pure]>;
def D2M_TileMinimumOp : D2M_Binary<"minimum">;
def D2M_TileNeOp : D2M_Binary<"ne">;
def D2M_TileRemainderOp : D2M_Binary<"remainder">;

def D2M_TileAddOp : D2M_BinaryOrScalar<"add", [Pure, D2M_MatrixUnitTrait]>;
def D2M_TileDivOp : D2M_BinaryOrScalar<"div">;
def D2M_TileMulOp : D2M_BinaryOrScalar<"mul", [Pure, D2M_MatrixUnitTrait]>;
def D2M_TilePowOp : D2M_BinaryOrScalar<"pow">;
def D2M_TileSubOp : D2M_BinaryOrScalar<"sub", [Pure, D2M_MatrixUnitTrait]>;

def D2M_TileBitwiseAndOp : D2M_Bits<"bitwise_and">;
def D2M_TileBitwiseOrOp : D2M_Bits<"bitwise_or">;
def D2M_TileBitwiseXorOp : D2M_Bits<"bitwise_xor">;
def D2M_TileLogicalLeftShiftOp : D2M_Bits<"logical_left_shift">;
def D2M_TileLogicalRightShiftOp : D2M_Bits<"logical_right_shift">;
def D2M_TileRightShiftOp : D2M_Bits<"right_shift">;

def D2M_Bound : AnyAttrOf<[F32Attr, I32Attr]>;
def D2M_TileClampScalarOp : D2M_TileOp<"clamp_scalar", "Values of a tile, kept between two bounds.",
                                       (ins TTCore_TileType:$input, D2M_Bound:$min, D2M_Bound:$max)>;
def D2M_TileSeluOp : D2M_TileOp<"selu", "Scaled exponential linear unit of a tile.",
                                (ins TTCore_TileType:$input, F32Attr:$scale, F32Attr:$alpha)>;
def D2M_TileWhereOp : D2M_TileOp<"where", "Selects values of two tiles by a third one.",
                                 (ins TTCore_TileType:$condition, TTCore_TileType:$true_value,
                                      TTCore_TileType:$false_value)>;
def D2M_TileCheckPositionsOp
    : D2M_TileOp<"check_positions", "A tile of indices, of which the least and the greatest are checked.",
                 (ins TTCore_TileType:$input, TTCore_TileType:$least, TTCore_TileType:$greatest, I64Attr:$size,
                      StrAttr:$op_name)> {
  let description = [{
    The kernel fails if the first element of `least` or `greatest` is no position of a dimension of `size` elements,
    with an error that begins with `op_name`: the op that uses the indices, and what it calls them.
  }];
}
def D2M_TileTypecastOp : D2M_TileOp<"typecast", "A tile in another data format.", (ins TTCore_TileType:$input),
                                    [D2M_SkipOpEltwiseFusionTrait]>;

//===----------------------------------------------------------------------===//
// Within a tile
//===----------------------------------------------------------------------===//

def D2M_TileTransposeOp : D2M_TileOp<"transpose", "A tile with rows and columns exchanged.",
                                     (ins TTCore_TileType:$input)>;
def D2M_TileBcastOp : D2M_TileOp<"bcast", "A tile that repeats its first row, column or value.",
                                 (ins TTCore_TileType:$input, D2M_TileBcastTypeAttr:$bcast_type), []>;
def D2M_TileFillOp : D2M_TileOp<"fill", "A tile of one value.", (ins AnyTypeOf<[AnyFloat, AnyInteger]>:$value),
                                [D2M_SkipOpEltwiseFusionTrait]> {
  let assemblyFormat = "`(` $value `)` attr-dict `:` type($value) `->` type($result)";
}
def D2M_TileRandOp : D2M_TileOp<"rand", "A tile of uniformly distributed values in [from, from + scale).",
                                (ins DefaultValuedAttr<UI32Attr, "0">:$seed, DefaultValuedAttr<F32Attr, "0.0">:$from,
                                     DefaultValuedAttr<F32Attr, "1.0">:$scale), []> {
  let assemblyFormat = "`(` `)` attr-dict `:` type($result)";
}
def D2M_DstReinterpretCastOp : Op<D2M_Dialect, "dst_reinterpret_cast"> {
  let summary = "A tile in the registers, taken for another type.";
  let arguments = (ins TTCore_TileType:$input);
  let results = (outs TTCore_TileType:$result);
}

//===----------------------------------------------------------------------===//
// Products and reductions
//===----------------------------------------------------------------------===//

def D2M_TileMatmulOp : D2M_TileOp<"matmul", "The product of two tiles added to a third.",
                                  (ins TTCore_TileType:$a, TTCore_TileType:$b, TTCore_TileType:$c), []>;
def D2M_TileMatmulBlockOp
    : D2M_ComputeOp<"tile_matmul_block", "The product of two blocks of tiles, added to a third in its place.",
                    (ins AnyRankedTensorOrMemRef:$a, AnyRankedTensorOrMemRef:$b,
                         Arg<AnyRankedTensorOrMemRef, "", [MemRead, MemWrite]>:$output,
                         DefaultValuedAttr<BoolAttr, "false">:$transpose_b),
                    (outs), []>;

/// b: the scale of the reduced values.
class D2M_Reduce<string mnemonic> : D2M_TileOp<"reduce_" # mnemonic, mnemonic # " over a tile, with a tile so far.",
                                               (ins TTCore_TileType:$a, TTCore_TileType:$b, TTCore_TileType:$c,
                                                    D2M_ReduceDimAttr:$reduce_dim)>;
class D2M_SfpuReduce<string mnemonic> : D2M_TileOp<"sfpu_reduce_" # mnemonic, mnemonic #
                                                   " over a tile, with a tile so far, on the vector unit.",
                                                   (ins TTCore_TileType:$a, TTCore_TileType:$c,
                                                        D2M_ReduceDimAttr:$reduce_dim,
                                                        DefaultValuedAttr<I64Attr, "-1">:$dst_scratch_index)>;
def D2M_TileReduceMaxOp : D2M_Reduce<"max">;
def D2M_TileReduceMeanOp : D2M_Reduce<"mean">;
def D2M_TileReduceSumOp : D2M_Reduce<"sum">;
def D2M_TileSFPUReduceMaxOp : D2M_SfpuReduce<"max">;
def D2M_TileSFPUReduceSumOp : D2M_SfpuReduce<"sum">;
def D2M_TileArgMaxOp
    : D2M_ComputeOp<"tile_argmax", "The largest values and where they are.",
                    (ins TTCore_TileType:$values, TTCore_TileType:$indices),
                    (outs TTCore_TileType:$out_values, TTCore_TileType:$out_indices, TTCore_TileType:$val_acc_out,
                          TTCore_TileType:$idx_acc_out),
                    [Pure]>;

//===----------------------------------------------------------------------===//
// Blocks of tiles
//===----------------------------------------------------------------------===//

class D2M_Tilize<string mnemonic, string text>
    : D2M_ComputeOp<"tile_" # mnemonic, text,
                    (ins Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$input,
                         Arg<AnyRankedTensorOrMemRef, "", [MemWrite]>:$output),
                    (outs Optional<AnyRankedTensorOrMemRef>:$result), [TT_ConvertsTiles, D2M_SkipOpEltwiseFusionTrait]>;
def D2M_TileTilizeBlockOp : D2M_Tilize<"tilize_block", "A block of rows as tiles.">;
def D2M_TileUntilizeBlockOp : D2M_Tilize<"untilize_block", "A block of tiles as rows.">;

/// A step of sorting pairs of values and indices in place.
class D2M_TopK<string mnemonic, string text, dag more, dag attributes>
    : D2M_ComputeOp<"tile_topk_" # mnemonic, text,
                    !con((ins Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$values,
                              Arg<AnyRankedTensorOrMemRef, "", [MemRead]>:$indices,
                              Arg<AnyRankedTensorOrMemRef, "", [MemRead, MemWrite]>:$out_values,
                              Arg<AnyRankedTensorOrMemRef, "", [MemRead, MemWrite]>:$out_indices),
                         more, (ins Index:$tile_a, Index:$tile_b, I1:$is_group_end, I1:$read_from_output), attributes),
                    (outs), [D2M_SkipOpEltwiseFusionTrait]>;
def D2M_TileTopkLocalSortOp : D2M_TopK<"local_sort", "Sorts two tiles.", (ins I32:$i_start_phase),
                                       (ins I32Attr:$idir, I32Attr:$i_end_phase, BoolAttr:$is_group_start)>;
def D2M_TileTopkMergeOp : D2M_TopK<"merge", "Merges two sorted tiles.", (ins I32:$m_iter),
                                   (ins I32Attr:$k, BoolAttr:$is_group_start)>;
def D2M_TileTopkRebuildOp : D2M_TopK<"rebuild", "Sorts the result of a merge.", (ins I32:$m_iter),
                                     (ins I32Attr:$idir, I32Attr:$k, I32Attr:$logk, I32Attr:$skip_second,
                                          BoolAttr:$is_group_start)>;
def D2M_TopkBlockOp
    : D2M_ComputeOp<"topk_block", "The k largest values of a block and where they are.",
                    (ins AnyRankedTensorOrMemRef:$input_values, AnyRankedTensorOrMemRef:$scratch_idx_tile,
                         AnyRankedTensorOrMemRef:$out_values, AnyRankedTensorOrMemRef:$out_indices, I32Attr:$k,
                         I64Attr:$num_elements, BoolAttr:$stable_sort, I32Attr:$dim,
                         DefaultValuedAttr<BoolAttr, "false">:$generate_indices),
                    (outs AnyRankedTensorOrMemRef:$result_values, AnyRankedTensorOrMemRef:$result_indices),
                    [D2M_SkipOpEltwiseFusionTrait]>;
def D2M_ArangeBlockOp
    : D2M_ComputeOp<"arange_block", "Fills a block with a progression.",
                    (ins AnyRankedTensorOrMemRef:$index_tile_tensor, AnyRankedTensorOrMemRef:$output,
                         I64Attr:$num_elements, I64Attr:$start, I64Attr:$step,
                         DefaultValuedAttr<BoolAttr, "false">:$colMajor),
                    (outs AnyRankedTensorOrMemRef:$result), [D2M_SkipOpEltwiseFusionTrait]>;

def D2M_AcquireDstOp : D2M_ComputeOp<"acquire_dst", "The destination registers, for this thread.", (ins),
                                     (outs RegisterDstMemRef:$result), []> {
  let assemblyFormat = "`(` `)` attr-dict `:` type($result)";
}

#endif // TTMLIR_DIALECT_D2M_IR_D2MTILEOPS_TD
