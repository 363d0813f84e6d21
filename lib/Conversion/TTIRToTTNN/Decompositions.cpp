//===- Decompositions.cpp - decompositions of ops without a TTNN equivalent -===//
//
// Products of any dimensions, selections, reversal, bits and truth values.
//
//===----------------------------------------------------------------------===//

#include "Lowering.h"

#include <numeric>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// dot_general
//===----------------------------------------------------------------------===//

namespace {
/// One side of a product: its dimensions by what becomes of them.
struct ProductSide {
  ProductSide(Lowering &lowering, Value value, ArrayRef<int64_t> batch, ArrayRef<int64_t> contracted)
      : lowering(lowering), value(value), shape(lowering.shapeOf(value)), batch(batch), contracted(contracted) {
    for (int64_t dim = 0, rank = shape.size(); dim < rank; ++dim)
      if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contracted, dim))
        free.push_back(dim);
  }

  int64_t size(ArrayRef<int64_t> dims) const {
    return std::accumulate(dims.begin(), dims.end(), int64_t(1),
                           [&](int64_t product, int64_t dim) { return product * shape[dim]; });
  }
  static bool inOrder(ArrayRef<int64_t> first, ArrayRef<int64_t> second, ArrayRef<int64_t> third) {
    int64_t next = 0;
    for (ArrayRef<int64_t> dims : {first, second, third})
      for (int64_t dim : dims)
        if (dim != next++)
          return false;
    return true;
  }
  /// [batch, rows, columns], or without the batch where there is none.
  Value matrices(ArrayRef<int64_t> rows, ArrayRef<int64_t> columns) {
    SmallVector<int64_t> order(batch);
    llvm::append_range(order, rows);
    llvm::append_range(order, columns);
    return lowering.reshape(lowering.permute(value, order), matrixShape(size(rows), size(columns)));
  }
  SmallVector<int64_t> matrixShape(int64_t rows, int64_t columns) const {
    return batch.empty() ? SmallVector<int64_t>{rows, columns} : SmallVector<int64_t>{size(batch), rows, columns};
  }

  Lowering &lowering;
  Value value;
  ArrayRef<int64_t> shape, batch, contracted;
  SmallVector<int64_t> free;
};
} // namespace

/// A matmul of matrices whose rows and columns are the free dimensions folded.
static LogicalResult lowerDotGeneral(Lowering &lowering) {
  auto op = cast<ttir::DotGeneralOp>(lowering.op);
  ProductSide lhs(lowering, op.getLhs(), op.getBatchDimsLhs(), op.getContractDimsLhs());
  ProductSide rhs(lowering, op.getRhs(), op.getBatchDimsRhs(), op.getContractDimsRhs());
  // What lies in memory as the transposed matrix is read so instead of being moved.
  bool transposeA = ProductSide::inOrder(lhs.batch, lhs.contracted, lhs.free);
  bool transposeB = ProductSide::inOrder(rhs.batch, rhs.free, rhs.contracted);
  Value a = transposeA ? lhs.matrices(lhs.contracted, lhs.free) : lhs.matrices(lhs.free, lhs.contracted);
  Value b = transposeB ? rhs.matrices(rhs.free, rhs.contracted) : rhs.matrices(rhs.contracted, rhs.free);
  Builder &builder = lowering.attributes();
  Value product = lowering.make(
      "matmul", {a, b}, lowering.typeLike(op.getResult(), lhs.matrixShape(lhs.size(lhs.free), rhs.size(rhs.free))),
      {lowering.attr("transpose_a", builder.getBoolAttr(transposeA)),
       lowering.attr("transpose_b", builder.getBoolAttr(transposeB))});
  return lowering.replace(lowering.reshape(product, lowering.resultType()));
}

//===----------------------------------------------------------------------===//
// Selections
//===----------------------------------------------------------------------===//

static int64_t integer(Lowering &lowering, StringRef name) {
  return cast<IntegerAttr>(lowering.op->getAttr(name)).getValue().getSExtValue();
}

/// A dimension of operand 0; negative ones count from the end.
static int64_t dimension(Lowering &lowering, int64_t dim) {
  return dim < 0 ? dim + lowering.shapeOf(lowering.op->getOperand(0)).size() : dim;
}

/// The one that an attribute names.
static int64_t dimension(Lowering &lowering, StringRef name) { return dimension(lowering, integer(lowering, name)); }

static LogicalResult lowerIndex(Lowering &lowering) {
  return lowering.replace(lowering.slice(lowering.op->getOperand(0), lowering.resultType(), dimension(lowering, "dim"),
                                         integer(lowering, "begin"), integer(lowering, "end"),
                                         integer(lowering, "step")));
}

/// Runs of `length` from `begin`, one every `stride` elements, the last cut at the end; stride 0 means a single run.
static LogicalResult lowerIndexSelect(Lowering &lowering) {
  Value input = lowering.op->getOperand(0);
  ArrayRef<int64_t> shape = lowering.shapeOf(input);
  int64_t dim = dimension(lowering, "dim"), begin = integer(lowering, "begin"), length = integer(lowering, "length");
  int64_t stride = lowering.op->hasAttr("stride") ? integer(lowering, "stride") : 0;
  // First element and length of each run.
  SmallVector<std::pair<int64_t, int64_t>> runs;
  for (int64_t start = begin; start < shape[dim]; start += stride) {
    runs.emplace_back(start, std::min(length, shape[dim] - start));
    if (stride <= 0)
      break;
  }
  if (runs.empty())
    return lowering.refuse("it selects no elements");
  auto select = [&](std::pair<int64_t, int64_t> run, RankedTensorType type) {
    return lowering.slice(input, type, dim, run.first, run.first + run.second, 1);
  };
  if (runs.size() == 1)
    return lowering.replace(select(runs.front(), lowering.resultType()));
  SmallVector<Value> parts;
  SmallVector<int64_t> partShape(shape);
  for (auto run : runs) {
    partShape[dim] = run.second;
    parts.push_back(select(run, lowering.typeLike(input, partShape)));
  }
  return lowering.replace(lowering.make("concat", parts, lowering.resultType(),
                                        lowering.attr("dim", lowering.attributes().getSI32IntegerAttr(dim))));
}

/// The rows of the dimension looked up in falling order.
static LogicalResult lowerReverse(Lowering &lowering) {
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to make its positions on");
  auto number = [&](int64_t value) {
    return IntegerAttr::get(IntegerType::get(lowering.context(), 64, IntegerType::Signed), value);
  };
  Value value = lowering.op->getOperand(0);
  for (int64_t named : cast<ttir::ReverseOp>(lowering.op).getDimensions()) {
    SmallVector<int64_t> shape(lowering.shapeOf(value));
    int64_t dim = dimension(lowering, named);
    int64_t size = shape[dim], inner = 1, outer = 1;
    for (auto [d, extent] : llvm::enumerate(shape))
      if (static_cast<int64_t>(d) != dim)
        (static_cast<int64_t>(d) < dim ? outer : inner) *= extent;
    RankedTensorType positionType = lowering.typeLike(value, {size}, ttcore::DataType::Int32);
    positionType = ttnn::withLayout(positionType, ttnn::TTNNLayoutAttr::of(positionType).withMesh({}));
    Value positions = lowering.make("arange", device, positionType,
                                    {lowering.attr("start", number(size - 1)), lowering.attr("end", number(-1)),
                                     lowering.attr("step", number(-1))});
    Value rows = lowering.permute(lowering.reshape(value, {outer, size, inner}), {1, 0, 2});
    rows = lowering.reshape(rows, {size, outer * inner});
    rows = lowering.make("embedding", {positions, rows}, lowering.typeLike(value, {size, outer * inner}));
    rows = lowering.permute(lowering.reshape(rows, {size, outer, inner}), {1, 0, 2});
    value = lowering.reshape(rows, shape);
  }
  return lowering.replace(lowering.reshape(value, lowering.resultType()));
}

/// A constant: shapes are known.
static LogicalResult lowerDimensionSize(Lowering &lowering) {
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no device to make it on");
  int64_t size = lowering.shapeOf(lowering.op->getOperand(0))[dimension(lowering, "dimension")];
  return lowering.replace(lowering.make(
      "full", device, lowering.resultType(),
      {lowering.attr("fill_value", lowering.attributes().getI32IntegerAttr(size)),
       lowering.attr("shape", ttnn::ShapeAttr::get(lowering.context(), lowering.resultType().getShape()))}));
}

//===----------------------------------------------------------------------===//
// Bits and truth values
//===----------------------------------------------------------------------===//

static Value as(Lowering &lowering, Value value, ttcore::DataType type) {
  return lowering.make("typecast", value, lowering.typeLike(value, lowering.shapeOf(value), type),
                       lowering.attr("dtype", ttcore::DataTypeAttr::get(lowering.context(), type)));
}

/// value < 0 as f32; what is compared must be exact in f32 up to its sign.
static Value isNegative(Lowering &lowering, Value value, RankedTensorType type) {
  Value zero = lowering.scalar(0, lowering.shapeOf(value).size(), value);
  return zero ? lowering.make("lt", {as(lowering, value, ttcore::DataType::Float32), zero}, type) : Value();
}

/// The sign bit of the f32, which -0 and NaN have as well.
static LogicalResult lowerSignbit(Lowering &lowering) {
  Value x = lowering.op->getOperand(0);
  ArrayRef<int64_t> shape = lowering.shapeOf(x);
  if (!cast<RankedTensorType>(x.getType()).getElementType().isF32())
    x = as(lowering, x, ttcore::DataType::Float32);
  Value bits = lowering.make("bitcast_convert", x, lowering.typeLike(x, shape, ttcore::DataType::Int32));
  Value negative = isNegative(lowering, bits, lowering.resultType());
  return negative ? lowering.replace(negative) : lowering.refuse("there is no device to make its constant on");
}

/// Shifts in copies of the sign: negative numbers are inverted before and after.
static LogicalResult lowerRightShift(Lowering &lowering) {
  Value x = lowering.op->getOperand(0), distance = lowering.op->getOperand(1);
  RankedTensorType type = lowering.resultType();
  auto likeX = cast<RankedTensorType>(x.getType());
  Value negative = isNegative(lowering, x, lowering.typeLike(x, likeX.getShape(), ttcore::DataType::Float32));
  if (!negative)
    return lowering.refuse("there is no device to make its constant on");
  Value inverted = lowering.make("bitwise_not", x, likeX);
  Value shifted = lowering.make("bitwise_not", lowering.make("logical_right_shift", {inverted, distance}, type), type);
  Value plain = lowering.make("logical_right_shift", {x, distance}, type);
  return lowering.replace(lowering.make("where", {negative, shifted, plain}, type));
}

/// The least, or largest, of 0 for false and 1 for true.
static LogicalResult lowerTruth(Lowering &lowering, StringRef reduction) {
  Value x = lowering.op->getOperand(0);
  ArrayRef<int64_t> shape = lowering.shapeOf(x);
  Value zero = lowering.scalar(0, shape.size(), x);
  if (!zero)
    return lowering.refuse("there is no device to make its constant on");
  Value truth = lowering.make("ne", {x, zero}, lowering.typeLike(x, shape, ttcore::DataType::Float32));
  SmallVector<NamedAttribute> attrs(lowering.op->getAttrs());
  return lowering.replace(lowering.make(reduction, truth, lowering.resultType(), attrs));
}

//===----------------------------------------------------------------------===//
// linear
//===----------------------------------------------------------------------===//

/// TTNN's bias broadcasts to the product. One that the product broadcasts to is added afterwards.
static LogicalResult lowerLinear(Lowering &lowering) {
  auto op = cast<ttir::LinearOp>(lowering.op);
  SmallVector<Type> types;
  if (failed(shapes::matmul(shapes::Reporter(lowering.op), op.getA(), op.getB(), op.getTransposeA(), op.getTransposeB(),
                            types)))
    return lowering.refuse("its operands make no product");
  ArrayRef<int64_t> shape = cast<RankedTensorType>(types.front()).getShape();
  RankedTensorType result = lowering.resultType();
  if (!op.getBias() || shape == result.getShape())
    return lowering.lowerByName();
  // Floats are rounded once, after the sum.
  RankedTensorType type = isa<FloatType>(result.getElementType())
                              ? lowering.typeLike(op.getResult(), shape, ttcore::DataType::Float32)
                              : lowering.typeLike(op.getResult(), shape);
  Value product = lowering.make(
      "matmul", {op.getA(), op.getB()}, type,
      {lowering.attr("transpose_a", op.getTransposeAAttr()), lowering.attr("transpose_b", op.getTransposeBAttr())});
  return lowering.replace(lowering.make("add", {product, op.getBias()}, result));
}

//===----------------------------------------------------------------------===//
// group_norm
//===----------------------------------------------------------------------===//

/// TTNN has the channels last.
static LogicalResult lowerGroupNorm(Lowering &lowering) {
  Operation *op = lowering.op;
  int64_t rank = lowering.shapeOf(op->getOperand(0)).size(), channel = dimension(lowering, "channel_dim");
  SmallVector<int64_t> order, inverse(rank), shape;
  for (int64_t dim = 0; dim < rank; ++dim)
    if (dim != channel)
      order.push_back(dim);
  order.push_back(channel);
  for (auto [to, from] : llvm::enumerate(order)) {
    inverse[from] = to;
    shape.push_back(lowering.resultType().getShape()[from]);
  }
  SmallVector<Value> operands(op->getOperands());
  operands[0] = lowering.permute(operands[0], order);
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : op->getAttrs())
    if (attr.getName() != "channel_dim")
      attrs.push_back(attr);
  Value value = lowering.make("group_norm", operands, lowering.typeLike(op->getResult(0), shape), attrs);
  return lowering.replace(lowering.permute(value, inverse));
}

void ttnn::addDecompositionRules(Rules &rules) {
  rules["dot_general"] = lowerDotGeneral;
  rules["get_dimension_size"] = lowerDimensionSize;
  rules["group_norm"] = lowerGroupNorm;
  rules["index"] = lowerIndex;
  rules["index_select"] = lowerIndexSelect;
  rules["linear"] = Rule(lowerLinear, "ttnn.linear");
  rules["reduce_and"] = [](Lowering &lowering) { return lowerTruth(lowering, "min"); };
  rules["reduce_or"] = [](Lowering &lowering) { return lowerTruth(lowering, "max"); };
  rules["reverse"] = lowerReverse;
  rules["right_shift"] = lowerRightShift;
  rules["signbit"] = lowerSignbit;
}
