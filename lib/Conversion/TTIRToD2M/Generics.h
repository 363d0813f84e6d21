//===- Generics.h - TTIR ops as d2m.generic ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H

#include "ttmlir/Dialect/D2M/IR/D2M.h"

#include <array>

namespace mlir::tt {

/// Computes a tile from the operands' tiles at the same position.
using TileBody = llvm::function_ref<Value(OpBuilder &, Location, ValueRange tiles)>;

/// Every core computes each of its tiles of `output` from its tiles of `inputs`. All operands are on the same grid.
void createElementwise(OpBuilder &builder, Location loc, ValueRange inputs, Value output, TileBody body);

/// A block of tiles that cores read from a buffer of any cores, through a map from the indices of the block and of the
/// tile in it to the row and column of the buffer's tiles: (block row, block column, row, column) -> (row, column).
struct Stream {
  Value buffer;
  std::array<int64_t, 2> blocks, block; // in all; tiles of one
  AffineMap map;
  int64_t buffers = 2; // blocks that are read ahead, with the one in use
};

/// An operand of an elementwise generic: a buffer with the same placement of tiles as the output, or blocks that every
/// core reads. A block of one row (or column) of tiles serves all rows (or columns) of the core.
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
/// `a` and a block of `b`.
struct Product {
  Stream a, b;
  AffineMap bRow;    // (block row of the output, step) -> block row of b
  int64_t steps = 1; // also the block columns of a
  bool transposeB = false;
  bool isShared = false;       // the cores of a column read the same blocks of b; those of a row do of a
  bool columnsFirst = false;   // the outer loop is over blocks of columns
  bool accumulatesInL1 = true; // the packer adds the products of several steps; otherwise registers do
};
void createMatmul(OpBuilder &builder, Location loc, const Product &product, Value output);

/// The operation that joins tiles to one.
enum class Join { Sum, Max };

/// Reduces the elements of tiles to one tile of the output: those of `input` at blocks (output row, output column *
/// steps + step), along a dimension of the tile. `scaler`: a buffer with a tile of f32, by whose value the result is
/// multiplied.
struct Reduction {
  Stream input;
  Value scaler;
  int64_t steps = 1;
  Join join = Join::Sum;
  d2m::ReduceDim dim = d2m::ReduceDim::R;
};
void createReduction(OpBuilder &builder, Location loc, const Reduction &reduction, Value output);

/// Combines tiles element by element, `steps` of them as above.
using JoinBody = llvm::function_ref<Value(OpBuilder &, Location, Value so_far, Value next)>;
void createAccumulation(OpBuilder &builder, Location loc, const Stream &input, int64_t steps, Value output,
                        JoinBody join);

/// The transfers between chips. Chips are numbered row by row over the mesh.
struct Exchange {
  std::array<int64_t, 2> mesh;               // rows and columns
  SmallVector<SmallVector<int64_t>> targets; // of each chip: the chips that it sends to; none: a copy that reads
  SmallVector<int64_t> positions;            // of each chip: its place in its group
  AffineMap target;                          // (row, column, position) -> which of the targets; null: all of them
};

/// A copy by every core of its rows of `own`, of which `size` elements count, to or from `other`. Row and column there
/// are a map of those here, and, behind them, of an index or the position of the chip.
struct Copy {
  Value own;
  std::pair<int64_t, int64_t> size;
  Value other;
  AffineMap map;
  bool read = true;
  Value index = nullptr;        // rows of i32: the first element of the row, or
  bool indexPerElement = false; // the element at the same place
  const Exchange *exchange = nullptr;
};
void createCopy(OpBuilder &builder, Location loc, const Copy &copy);

/// Every core tilizes its rows of elements, or untilizes its tiles, 32 rows at a time.
void createTilize(OpBuilder &builder, Location loc, Value rows, Value tiles);
void createUntilize(OpBuilder &builder, Location loc, Value tiles, Value rows);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_GENERICS_H
