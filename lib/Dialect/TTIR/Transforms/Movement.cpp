//===- Movement.cpp - classification of data movement ops -----------------===//

#include "Movement.h"

using namespace mlir;
using namespace mlir::tt::ttir;

Movement Movement::reshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  return {SmallVector<int64_t>(from), SmallVector<int64_t>(to), {}};
}

Movement Movement::permutation(ArrayRef<int64_t> from, ArrayRef<int64_t> order) {
  SmallVector<int64_t> to;
  // Dimensions of one value may go anywhere; the others must stay in order for nothing to move.
  int64_t last = -1;
  bool moves = false;
  for (int64_t dim : order) {
    to.push_back(from[dim]);
    if (from[dim] == 1)
      continue;
    moves |= dim < last;
    last = dim;
  }
  return {SmallVector<int64_t>(from), to, moves ? SmallVector<int64_t>(order) : SmallVector<int64_t>()};
}

std::optional<Movement> Movement::of(Operation *op) {
  if (!isa_and_nonnull<PermuteOp, TransposeOp, ReshapeOp, SqueezeOp, UnsqueezeOp>(op))
    return std::nullopt;
  auto from = cast<RankedTensorType>(op->getOperand(0).getType());
  auto to = cast<RankedTensorType>(op->getResult(0).getType());
  if (from.getElementType() != to.getElementType() || from.getEncoding() != to.getEncoding() ||
      !from.hasStaticShape() || !to.hasStaticShape())
    return std::nullopt;
  if (auto permute = dyn_cast<PermuteOp>(op))
    return permutation(from.getShape(), permute.getPermutation());
  if (auto transpose = dyn_cast<TransposeOp>(op)) {
    int64_t rank = from.getRank(), first = transpose.getDim0(), second = transpose.getDim1();
    SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(rank));
    std::swap(order[first < 0 ? first + rank : first], order[second < 0 ? second + rank : second]);
    return permutation(from.getShape(), order);
  }
  return reshape(from.getShape(), to.getShape());
}

bool Movement::isIdentity() const { return !isPermutation() && from == to; }

Movement Movement::inverse() const {
  SmallVector<int64_t> back(order.size());
  for (auto [to, from] : llvm::enumerate(order))
    back[from] = to;
  return {to, from, back};
}

std::optional<Movement> Movement::then(const Movement &next) const {
  if (!isPermutation() && !next.isPermutation())
    return reshape(from, next.to);
  if (isIdentity())
    return next;
  if (next.isIdentity())
    return *this;
  if (!isPermutation() || !next.isPermutation())
    return std::nullopt;
  return permutation(from, llvm::map_to_vector(next.order, [&](int64_t dim) { return order[dim]; }));
}

bool Movement::isLike(const Movement &other) const {
  return isPermutation() ? order == other.order : !other.isPermutation() && from == other.from && to == other.to;
}

Value Movement::apply(OpBuilder &builder, Location loc, Value value) const {
  if (isIdentity())
    return value;
  Type type = cast<RankedTensorType>(value.getType()).clone(to);
  OperationState state(loc, isPermutation() ? PermuteOp::getOperationName() : ReshapeOp::getOperationName(), value,
                       type);
  if (isPermutation())
    state.addAttribute("permutation", builder.getDenseI64ArrayAttr(order));
  else
    state.addAttribute("shape", builder.getI32ArrayAttr(SmallVector<int32_t>(to.begin(), to.end())));
  return builder.create(state)->getResult(0);
}
