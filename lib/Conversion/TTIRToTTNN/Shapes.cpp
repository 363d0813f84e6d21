//===- Shapes.cpp - lowering of creation, data movement and reductions ----===//

#include "Lowering.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// squeeze and unsqueeze are reshapes to the result's shape.
static LogicalResult lowerToReshape(Lowering &lowering) {
  auto shape =
      llvm::map_to_vector(lowering.resultType().getShape(), [](int64_t size) { return static_cast<int32_t>(size); });
  return lowering.replace(lowering.make("reshape", lowering.op->getOperand(0), lowering.resultType(),
                                        lowering.attr("shape", lowering.attributes().getI32ArrayAttr(shape))));
}

static LogicalResult lowerEmpty(Lowering &lowering) {
  // The destination of a to_layout is only a type.
  if (lowering.op->use_empty())
    return lowering.replace(Value());
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to make it on");
  auto shape = ttnn::ShapeAttr::get(lowering.context(), lowering.resultType().getShape());
  return lowering.replace(lowering.make("empty", device, lowering.resultType(), lowering.attr("shape", shape)));
}

/// The output operand says only where the result goes, and its type does.
static LogicalResult lowerToLayout(Lowering &lowering) {
  if (lowering.op->getNumResults() != 1)
    return lowering.refuse("it writes to a buffer; expected a tensor as its result");
  return lowering.replace(lowering.make("to_layout", lowering.op->getOperand(0), lowering.resultType()));
}

static LogicalResult lowerPad(Lowering &lowering) {
  SmallVector<NamedAttribute> attrs(lowering.op->getAttrs());
  attrs.push_back(lowering.attr("use_multicore", lowering.attributes().getBoolAttr(true)));
  return lowerTo(lowering, "pad", attrs);
}

/// argmax and prod reduce one dimension or all.
template <unsigned width> static LogicalResult lowerOneDimReduction(Lowering &lowering) {
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : lowering.op->getAttrs()) {
    if (attr.getName() != "dim_arg") {
      attrs.push_back(attr);
      continue;
    }
    auto dims = cast<ArrayAttr>(attr.getValue());
    if (dims.size() != 1)
      return lowering.refuse("dim_arg has " + Twine(dims.size()) + " dimensions; TTNN takes one, or none for all");
    auto type = IntegerType::get(lowering.context(), width, IntegerType::Signed);
    attrs.push_back(lowering.attr(width == 32 ? "dim" : "dim_arg",
                                  IntegerAttr::get(type, cast<IntegerAttr>(dims[0]).getValue().getSExtValue())));
  }
  return lowerTo(lowering, lowering.op->getName().stripDialect(), attrs);
}

/// A sequence along one dimension, repeated along the others.
static LogicalResult lowerArange(Lowering &lowering) {
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to make it on");
  ArrayRef<int64_t> shape = lowering.resultType().getShape();
  int64_t dim = cast<IntegerAttr>(lowering.op->getAttr("arange_dimension")).getInt();
  if (dim < 0 || dim >= static_cast<int64_t>(shape.size()))
    return lowering.refuse("arange_dimension " + Twine(dim) + " is not one of its " + Twine(shape.size()) +
                           " dimensions");
  SmallVector<int64_t> row(shape.size(), 1), repeats(shape);
  row[dim] = shape[dim];
  repeats[dim] = 1;
  Value like = lowering.op->getResult(0);
  SmallVector<NamedAttribute> attrs;
  for (StringRef name : {"start", "end", "step"})
    attrs.push_back(lowering.attr(name, lowering.op->getAttr(name)));
  Value value = lowering.make("arange", device, lowering.typeLike(like, {shape[dim]}), attrs);
  value = lowering.reshape(value, row);
  if (llvm::any_of(repeats, [](int64_t count) { return count != 1; }))
    value = lowering.make("repeat", value, lowering.resultType(),
                          lowering.attr("repeat_dims", ttnn::ShapeAttr::get(lowering.context(), repeats)));
  return lowering.replace(value);
}

/// The chip's cache ops take a position, and a row of the page table, for each user.
static LogicalResult lowerPagedUpdate(Lowering &lowering) {
  auto op = cast<ttir::PagedUpdateCacheOp>(lowering.op);
  ArrayRef<int64_t> cache = lowering.shapeOf(op.getCache()), input = lowering.shapeOf(op.getInput());
  int64_t users = input[1], positions = ShapedType::getNumElements(lowering.shapeOf(op.getUpdateIndex()));
  if (input[2] < cache[1])
    return lowering.refuse("'input' has " + Twine(input[2]) + " heads and 'cache' " + Twine(cache[1]));
  if (positions != users)
    return lowering.refuse("'update_index' has " + Twine(positions) + " elements; expected one for each of " +
                           Twine(users) + " users");
  if (op.getPageTable()) {
    ArrayRef<int64_t> table = lowering.shapeOf(op.getPageTable());
    if (table.size() != 2 || table[0] < users)
      return lowering.refuse("'page_table' has " + Twine(table.size()) + " dimensions, the first of " +
                             Twine(table.empty() ? 1 : table[0]) + "; expected users x pages, for " + Twine(users) +
                             " users");
  } else if (!op.getShareCache() && cache[0] < users) {
    return lowering.refuse("'cache' is of " + Twine(cache[0]) + " users and 'input' of " + Twine(users));
  }
  return lowering.lowerByName();
}

static LogicalResult lowerPagedFill(Lowering &lowering) {
  auto op = cast<ttir::PagedFillCacheOp>(lowering.op);
  ArrayRef<int64_t> cache = lowering.shapeOf(op.getCache()), input = lowering.shapeOf(op.getInput()),
                    table = lowering.shapeOf(op.getPageTable());
  if (input[1] != cache[1])
    return lowering.refuse("'input' has " + Twine(input[1]) + " heads and 'cache' " + Twine(cache[1]));
  // Sizes are of tensors of at most 2^44 elements.
  if (table.size() != 2 || table[0] < 1 || cache[2] < 1 || llvm::divideCeilSigned(input[2], cache[2]) > table[1])
    return lowering.refuse("'page_table' has " + Twine(table.size()) + " dimensions, the last of " +
                           Twine(table.empty() ? 1 : table.back()) + "; expected users x pages with room for " +
                           Twine(input[2]) + " positions in pages of " + Twine(cache[2]));
  return lowering.lowerByName();
}

void ttnn::addShapeRules(Rules &rules) {
  rules["arange"] = lowerArange;
  rules["argmax"] = lowerOneDimReduction<32>;
  rules["empty"] = lowerEmpty;
  rules["pad"] = lowerPad;
  rules["paged_fill_cache"] = Rule(lowerPagedFill, "ttnn.paged_fill_cache");
  rules["paged_update_cache"] = Rule(lowerPagedUpdate, "ttnn.paged_update_cache");
  rules["prod"] = lowerOneDimReduction<64>;
  rules["squeeze"] = lowerToReshape;
  rules["to_layout"] = lowerToLayout;
  rules["unsqueeze"] = lowerToReshape;
}
