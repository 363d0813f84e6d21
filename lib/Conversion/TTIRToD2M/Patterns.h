//===- Patterns.h - patterns that lower TTIR to D2M -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_CONVERSION_TTIRTOD2M_PATTERNS_H
#define TTMLIR_LIB_CONVERSION_TTIRTOD2M_PATTERNS_H

#include "../Conversion.h"
#include "Buffers.h"

#include "ttmlir/Dialect/D2M/Transforms/Policies.h"
#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::tt {

struct LoweringOptions {
  int64_t streamBuffers = 2;                                  // of a circular buffer that is read from other cores
  bool foldsLayouts = true;                                   // the rows of a tilized tensor are used again
  std::array<int64_t, 2> mesh = {1, 1};                       // rows and columns of chips
  bool columnsFirst = false;                                  // the outer loop of a product is over columns
  bool accumulatesInL1 = true;                                // the parts of a product
  d2m::BufferSizePolicy blocks = d2m::BufferSizePolicy::Auto; // of products
  int64_t coreBytes = int64_t(1280) << 10;                    // of L1, that a product may take
  bool collapses = true;                                      // leading dimensions to rows, see place()
  bool takesTensors = false;                                  // of TTNN, and gives them

  int64_t chips() const { return mesh[0] * mesh[1]; }
  int64_t chipsAlong(uint32_t axis) const { return mesh[axis == 0 ? 0 : 1]; }
};

/// A tensor becomes a buffer of its tiles.
class TileTypes : public TypeConverter {
public:
  TileTypes(ArrayRef<int64_t> workerGrid, LoweringOptions options) : options(options), workerGrid(workerGrid) {
    addConversion([](Type type) { return type; });
    addConversion([this](RankedTensorType type) -> std::optional<Type> {
      std::string reason;
      FailureOr<Placement> placement = place(type, reason);
      return failed(placement) ? std::nullopt : std::optional<Type>(placement->tiled);
    });
    addConversion([](RankedTensorType type) -> std::optional<Type> {
      return ttnn::TTNNLayoutAttr::of(type) ? std::optional<Type>(type) : std::nullopt;
    });
  }

  FailureOr<Placement> place(Type type, std::string &reason) const {
    if (auto tensor = dyn_cast<RankedTensorType>(type))
      return tt::place(tensor, workerGrid, reason, options.collapses);
    llvm::raw_string_ostream(reason) << "'" << type << "' is no ranked tensor";
    return failure();
  }

  const LoweringOptions options;

private:
  SmallVector<int64_t> workerGrid;
};

/// The place of a tensor that has one.
Placement placeOf(const TileTypes &types, Type type);

/// The tiles of a value of the host.
Value toDevice(OpBuilder &builder, Location loc, Value host, const Placement &placement);

/// A pattern for an op whose operands and result have placements, which the driver has checked.
template <class OpT> class TilePattern : public OpConversionPattern<OpT> {
public:
  TilePattern(const TileTypes &types, MLIRContext *context) : OpConversionPattern<OpT>(types, context), types(types) {
    this->setHasBoundedRewriteRecursion(); // an op may become one of other shapes
  }

protected:
  const TileTypes &types;
};

/// Constants become symbols of the module of `symbols`.
void addPatterns(RewritePatternSet &patterns, const TileTypes &types, SymbolTable &symbols);
/// Each adds the patterns of one family.
void addCollectivePatterns(RewritePatternSet &patterns, const TileTypes &types);
void addMatmulPatterns(RewritePatternSet &patterns, const TileTypes &types);
void addMovementPatterns(RewritePatternSet &patterns, const TileTypes &types);
void addReductionPatterns(RewritePatternSet &patterns, const TileTypes &types);

} // namespace mlir::tt

#endif // TTMLIR_LIB_CONVERSION_TTIRTOD2M_PATTERNS_H
