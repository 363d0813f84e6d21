//===- Generics.h - TTIR ops as d2m.generic ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include <array>

namespace mlir::tt {

/// Makes a tile of those of the operands at the same place.
using TileBody = llvm::function_ref<Value(OpBuilder &, Location, ValueRange tiles)>;

/// Every core computes each of its tiles of `output` from its tiles of `inputs`. All are on the same grid.
void createElementwise(OpBuilder &builder, Location loc, ValueRange inputs, Value output, TileBody body);

/// A block of tiles that cores read from a buffer of any cores, by a map from the numbers of the block and the tile in
/// it to row and column of the buffer's tiles: (block row, block column, row, column) -> (row, column).
struct Stream {
  Value buffer;
  std::array<int64_t, 2> blocks, block; // in all; tiles of one
  AffineMap map;
  int64_t buffers = 2; // blocks that are read ahead, with the one in use
};

/// An operand of an elementwise generic: a buffer whose tiles lie where the output's do, or blocks that every core
/// reads. A block of one row (or column) of tiles serves all rows (or columns) of the core's.
struct TileOperand {
  Stream stream;
  bool isStream = false;
  std::array<bool, 2> isShared = {}; // whether all cores of a dimension read one block
  d2m::TileBcastType bcast = d2m::TileBcastType::None;

  static TileOperand inPlace(Value buffer) { return {{buffer, {}, {}, {}, 1}, false, {}, d2m::TileBcastType::None}; }
};
/// Every core computes each of its tiles of `output` from those of the operands.
void createElementwiseFrom(OpBuilder &builder, Location loc, ArrayRef<TileOperand> operands, Value output,
                           TileBody body);

/// A product of blocks: for each of the core's blocks of output rows, the sum over `steps` of products of a block of
/// `a` and one of `b`.
struct Product {
  Stream a, b;
  AffineMap bRow;    // (block row of the output, step) -> block row of b
  int64_t steps = 1; // also the block columns of a
  bool transposeB = false;
  bool isShared = false; // the cores of a column read the same blocks of b; those of a row do of a
};
void createMatmul(OpBuilder &builder, Location loc, const Product &product, Value output);

/// The operation that joins tiles to one.
enum class Join { Sum, Max };

/// Joins the elements of tiles to one tile of the output: those of `input` at blocks (output row, output column * steps
/// + step), along a dimension of the tile. `scaler`: a buffer with a tile of f32, whose value is multiplied.
struct Reduction {
  Stream input;
  Value scaler;
  int64_t steps = 1;
  Join join = Join::Sum;
  d2m::ReduceDim dim = d2m::ReduceDim::R;
};
void createReduction(OpBuilder &builder, Location loc, const Reduction &reduction, Value output);

/// Joins tiles element by element, `steps` of them as above.
using JoinBody = llvm::function_ref<Value(OpBuilder &, Location, Value so_far, Value next)>;
void createAccumulation(OpBuilder &builder, Location loc, const Stream &input, int64_t steps, Value output,
                        JoinBody join);

/// Every core transfers its rows of `own`, of which `size` elements count, to or from `other`, whose rows and columns
/// are a map of those.
void createCopy(OpBuilder &builder, Location loc, Value own, std::pair<int64_t, int64_t> size, Value other,
                AffineMap map, bool read);

/// Every core tilizes its rows of elements, or untilizes its tiles, 32 rows at a time.
void createTilize(OpBuilder &builder, Location loc, Value rows, Value tiles);
void createUntilize(OpBuilder &builder, Location loc, Value tiles, Value rows);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H
