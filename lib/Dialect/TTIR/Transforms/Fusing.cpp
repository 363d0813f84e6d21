//===- Fusing.cpp - fusion of TTIR ops ------------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Fusing.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReshapeOp.h"

#include "mlir/IR/DialectResourceBlobManager.h"

namespace mlir::tt::ttir {
#define GEN_PASS_DEF_TTIRFUSING
#include "ttmlir/Dialect/TTIR/Transforms/Passes.h.inc"
} // namespace mlir::tt::ttir

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttir;

Value ttir::reshape(OpBuilder &builder, Operation *root, Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = tensorType(value);
  if (type.getShape() == shape)
    return value;
  Location loc = ttcore::withoutSourceNumber(root->getLoc());
  RankedTensorType to = type.clone(shape);
  // The values of a constant, shared or small.
  if (auto constant = value.getDefiningOp<ttir::ConstantOp>();
      constant && constant.getValue().getElementType() == type.getElementType()) {
    ElementsAttr values = constant.getValue();
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(values))
      return ttir::ConstantOp::create(builder, loc, to, DenseResourceElementsAttr::get(to, resource.getRawHandle()));
    if (auto dense = dyn_cast<DenseElementsAttr>(values))
      return ttir::ConstantOp::create(builder, loc, to, dense.reshape(to));
  }
  SmallVector<int32_t> sizes(shape.begin(), shape.end());
  return ReshapeOp::create(builder, loc, to, value, builder.getI32ArrayAttr(sizes));
}

namespace {
struct Fusing : ttir::impl::TTIRFusingBase<Fusing> {
  using Base::Base;

  void runOnOperation() override {
    FusionState state(getOperation(), {conv2dWithMultiplyEnabled, permuteMatmulEnabled});
    RewritePatternSet patterns(&getContext());
    populateActivationFusions(patterns, state);
    populateMatmulFusions(patterns, state);
    populateConvolutionFusions(patterns, state);
    state.apply(getOperation(), std::move(patterns));
    if (!state.hasChanged())
      markAllAnalysesPreserved();
  }
};
} // namespace
