//===- TTNNFolds.cpp - folds and canonical forms of TTNN ------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A tensor type states the placement of a tensor, so an op that keeps the type moves nothing. Ops of constants are not
// computed here: constants of TTNN are on a device.
//
//===----------------------------------------------------------------------===//

#include "../../Families/Rules.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Dialect/TTNN/IR/TTNNOps.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

namespace {
struct Ops {
  using PermuteOp = ttnn::PermuteOp;
  using TransposeOp = ttnn::TransposeOp;
  using ReshapeOp = ttnn::ReshapeOp;
  static bool changesShape(Operation *) { return false; }
  /// Whether the padding of tiles is filled with zeros. Other fillings are visible to users.
  static bool isPlain(ttnn::PermuteOp op) { return op.getPadValue().isPosZero(); }
  /// Whether two tensors have the same placement, except for their shape and, with `casts`, their data type.
  static bool agree(RankedTensorType from, RankedTensorType to, bool casts = false) {
    if (!from.getEncoding() && !to.getEncoding())
      return true;
    TTNNLayoutAttr a = TTNNLayoutAttr::of(from), b = TTNNLayoutAttr::of(to);
    if (a == b)
      return true;
    return a && b && !a.isSharded() && !b.isSharded() && a.getLayout() == b.getLayout() &&
           a.getBufferType() == b.getBufferType() && a.getTensorMesh() == b.getTensorMesh() &&
           a.getMemLayout() == b.getMemLayout() && (casts || a.getDataType() == b.getDataType());
  }
};
} // namespace

OpFoldResult PermuteOp::fold(FoldAdaptor) { return folds::movement<Ops>(*this, {}); }
OpFoldResult TransposeOp::fold(FoldAdaptor) { return folds::movement<Ops>(*this, {}); }
OpFoldResult ReshapeOp::fold(FoldAdaptor) { return folds::movement<Ops>(*this, {}); }

OpFoldResult SliceStaticOp::fold(FoldAdaptor) { return folds::slice(*this, {}); }
OpFoldResult ConcatOp::fold(FoldAdaptor) { return folds::concat(*this); }
OpFoldResult PadOp::fold(FoldAdaptor) { return folds::pad(*this, {}); }
OpFoldResult RepeatOp::fold(FoldAdaptor) { return folds::repetition(*this, {}); }
OpFoldResult RepeatInterleaveOp::fold(FoldAdaptor) { return folds::repetition(*this, {}); }
OpFoldResult UpsampleOp::fold(FoldAdaptor) { return folds::sameType(*this); }

OpFoldResult TypecastOp::fold(FoldAdaptor) { return folds::typecast<Ops>(*this); }
OpFoldResult ToDeviceOp::fold(FoldAdaptor) { return folds::sameType(*this); }
OpFoldResult FromDeviceOp::fold(FoldAdaptor) { return folds::sameType(*this); }
OpFoldResult ToLayoutOp::fold(FoldAdaptor) { return folds::sameType(*this); }
OpFoldResult ToMemoryConfigOp::fold(FoldAdaptor) { return folds::sameType(*this); }
OpFoldResult ToTensorSpecOp::fold(FoldAdaptor) { return folds::sameType(*this); }

OpFoldResult MaxOp::fold(FoldAdaptor) { return folds::reduction(*this, true); }
OpFoldResult MinOp::fold(FoldAdaptor) { return folds::reduction(*this, true); }
OpFoldResult SumOp::fold(FoldAdaptor) { return folds::reduction(*this, folds::areIntegers(*this)); }
OpFoldResult MeanOp::fold(FoldAdaptor) { return folds::reduction(*this, folds::areIntegers(*this)); }

OpFoldResult PowScalarOp::fold(FoldAdaptor) {
  return folds::isNumber(getRhs(), 1) && folds::areIntegers(*this) ? folds::sameType(*this) : OpFoldResult();
}
OpFoldResult WhereOp::fold(FoldAdaptor) { return folds::where(*this); }
OpFoldResult ClampScalarOp::fold(FoldAdaptor) { return folds::clampScalar(*this); }

void TTNNDialect::getCanonicalizationPatterns(RewritePatternSet &patterns) const {
  folds::populateMovementCanonicalizations<Ops, PermuteOp, TransposeOp, ReshapeOp, SliceStaticOp, ConcatOp>(patterns);
  patterns.add<folds::ReductionOfSingles<Ops, MaxOp>, folds::ReductionOfSingles<Ops, MinOp>>(patterns.getContext());
}
