//===- CallFormulas.cpp - custom calls that are several ops ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "CustomCalls.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/AddOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllReduceOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/AllToAllCombineOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArangeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ConstantOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GreaterThanOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MatmulOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/MultiplyOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ReluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SliceStaticOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SumOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/WhereOp.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

static std::string textOf(ArrayRef<int64_t> shape) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleave(shape, stream, "x");
  return text;
}

/// True where column > row + start, of [1, 1, rows, columns].
static Value isLater(ImplicitLocOpBuilder &builder, int64_t rows, int64_t columns, int64_t start) {
  auto type = RankedTensorType::get({1, 1, rows, columns}, builder.getI32Type());
  auto counted = [&](int64_t dimension, int64_t from) -> Value {
    SmallVector<int64_t> shape = {1, 1, 1, 1};
    shape[dimension] = type.getDimSize(dimension);
    Value line = ttir::ArangeOp::create(builder, type.clone(shape), from, from + shape[dimension], /*step=*/1,
                                        static_cast<uint64_t>(dimension));
    return broadcast(builder, line, type.getShape());
  };
  return make<ttir::GreaterThanOp>(builder, type.clone(builder.getI1Type()), {counted(3, 0), counted(2, start)});
}

static Value filled(ImplicitLocOpBuilder &builder, RankedTensorType type, double value) {
  auto number = builder.getFloatAttr(type.getElementType(), value);
  return ttir::ConstantOp::create(builder, type, DenseElementsAttr::get(type, number));
}

static constexpr double infinity = std::numeric_limits<double>::infinity();

/// Attention whose values are the first features of the keys, if there are no values.
Value hlo::makeFlashPrefill(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands,
                            const NamedAttrList &attributes, RankedTensorType type, std::string &problem) {
  Value query = operands.lookup("query"), key = operands.lookup("key"), value = operands.lookup("value");
  Value mask = operands.lookup("attention_mask");
  for (Value each : {query, key})
    if (typeOf(each).getRank() != 4 || !isa<FloatType>(typeOf(each).getElementType()))
      return problem = "operands are not of floating-point numbers in four dimensions", Value();
  SmallVector<int64_t> shape(typeOf(key).getShape());
  const auto size = cast<IntegerAttr>(attributes.get("head_dim_v")).getValue().getSExtValue();
  if (size < 1 || (!value && size > shape.back()))
    return problem = ("head_dim_v is " + Twine(size) + "; expected 1 to " + Twine(shape.back())).str(), Value();
  SmallVector<int64_t> expected(typeOf(query).getShape());
  const int64_t rows = expected[2], columns = shape[2];
  expected.back() = size;
  if (type.getShape() != ArrayRef(expected))
    return problem = "the result has shape " + textOf(type.getShape()) + "; expected " + textOf(expected), Value();
  if (!value) {
    shape.back() = size;
    value = ttir::SliceStaticOp::create(builder, typeOf(key).clone(shape), key, builder.getI32ArrayAttr({0, 0, 0, 0}),
                                        builder.getI32ArrayAttr(narrow(shape)), builder.getI32ArrayAttr({1, 1, 1, 1}));
  }
  bool isCausal = cast<BoolAttr>(attributes.get("is_causal")).getValue();
  if (mask && isCausal) {
    // The attention of TTIR has one or the other.
    RankedTensorType given = typeOf(mask), later = RankedTensorType::get({1, 1, rows, columns}, given.getElementType());
    if (given.getRank() != 4)
      return problem = "the mask has rank " + std::to_string(given.getRank()) + "; expected 4", Value();
    Value hidden = make<ttir::WhereOp>(
        builder, later, {isLater(builder, rows, columns, 0), filled(builder, later, -infinity), zeros(builder, later)});
    SmallVector<int64_t> whole(given.getShape());
    whole[2] = rows, whole[3] = columns;
    for (int64_t dimension : {2, 3})
      if (given.getDimSize(dimension) != 1 && given.getDimSize(dimension) != whole[dimension])
        return problem = "the mask has shape " + textOf(given.getShape()) + "; expected it to end with " +
                         textOf(ArrayRef(whole).take_back(2)),
               Value();
    mask = make<ttir::AddOp>(builder, given.clone(whole),
                             {broadcast(builder, mask, whole), broadcast(builder, hidden, whole)});
    isCausal = false;
  }
  return ttir::ScaledDotProductAttentionOp::create(builder, type, query, key, value, mask, /*attention_sink=*/Value(),
                                                   builder.getBoolAttr(isCausal),
                                                   cast_if_present<FloatAttr>(attributes.get("scale")),
                                                   /*sliding_window_size=*/IntegerAttr());
}

/// Sums the positive scores of each position over heads, by weights; positions after the query's have -inf.
Value hlo::makeIndexerScore(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands,
                            const NamedAttrList &attributes, RankedTensorType type, std::string &problem) {
  Value query = operands.lookup("query"), key = operands.lookup("key"), weights = operands.lookup("weights");
  RankedTensorType q = typeOf(query), k = typeOf(key);
  if (q.getRank() != 4 || k.getRank() != 4 || !isa<FloatType>(q.getElementType()))
    return problem = "query and key are not of floating-point numbers in four dimensions", Value();
  const int64_t batch = q.getDimSize(0), heads = q.getDimSize(1), rows = q.getDimSize(2), columns = k.getDimSize(2);
  const std::pair<Value, SmallVector<int64_t>> expected[] = {{key, {batch, 1, columns, q.getDimSize(3)}},
                                                             {weights, {batch, heads, rows, 1}}};
  for (const auto &[operand, shape] : expected)
    if (typeOf(operand).getShape() != ArrayRef(shape) || typeOf(operand).getElementType() != q.getElementType())
      return problem = (operand == key ? "key has shape " : "weights have shape ") +
                       textOf(typeOf(operand).getShape()) + "; expected " + textOf(shape) +
                       " of the elements of the query",
             Value();
  auto total = q.clone(ArrayRef<int64_t>({batch, 1, rows, columns}));
  if (type.getShape() != total.getShape())
    return problem = "the result has shape " + textOf(type.getShape()) + "; expected " + textOf(total.getShape()),
           Value();
  const auto start = cast<IntegerAttr>(attributes.get("chunk_start_idx")).getInt();
  if (start < 0 || start > std::numeric_limits<int32_t>::max() - rows)
    return problem = "chunk_start_idx is " + std::to_string(start) + "; expected a position", Value();
  auto each = q.clone(ArrayRef<int64_t>({batch, heads, rows, columns}));
  Value keys = broadcast(builder, key, {batch, heads, columns, q.getDimSize(3)});
  Value scores = ttir::MatmulOp::create(builder, each, query, keys, /*transpose_a=*/false, /*transpose_b=*/true);
  scores = make<ttir::ReluOp>(builder, each, scores);
  scores = make<ttir::MultiplyOp>(builder, each, {scores, broadcast(builder, weights, each.getShape())});
  Value sum = ttir::SumOp::create(builder, total, scores, /*keep_dim=*/true, builder.getI32ArrayAttr({1}));
  Value later = broadcast(builder, isLater(builder, rows, columns, start), total.getShape());
  return typecast(builder, make<ttir::WhereOp>(builder, total, {later, filled(builder, total, -infinity), sum}),
                  type.getElementType());
}

/// Adds the results of experts in other rows or columns of the mesh, which are zero where an expert is absent.
Value hlo::makeCombine(ImplicitLocOpBuilder &builder, llvm::StringMap<Value> &operands, const NamedAttrList &attributes,
                       RankedTensorType type, std::string &problem) {
  Value mapping = operands.lookup("expert_mapping");
  const auto integer = [&](StringRef name) { return cast<IntegerAttr>(attributes.get(name)); };
  const int64_t devices = integer("num_devices").getInt(), axis = integer("cluster_axis").getInt();
  if (typeOf(mapping).getRank() != 4 || devices < 1 || (axis != 0 && axis != 1))
    return problem = "expects a mapping in four dimensions, one or more devices, and cluster_axis 0 or 1", Value();
  Value combined = ttir::AllToAllCombineOp::create(
      builder, type, operands.lookup("input_tensor"), operands.lookup("expert_metadata"), mapping,
      integer("num_devices"), integer("cluster_axis"), integer("num_experts_per_tok"), integer("output_shard_dim"));
  if (typeOf(mapping).getDimSize(3) / devices <= 1)
    return combined;
  return ttir::AllReduceOp::create(builder, type, combined, ttcore::ReduceType::Sum, static_cast<uint32_t>(1 - axis));
}
