//===- Attention.cpp - attention as products and softmax ------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Composites.h"

#include "ttmlir/Dialect/TTIR/IR/Ops/ChunkedScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PagedFlashMultiLatentAttentionDecodeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/PagedScaledDotProductAttentionDecodeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SDPABackwardOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/SDPAForwardOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionDecodeOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/TTIR.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::tt;

static constexpr double hidden = -std::numeric_limits<double>::infinity();

static double scaleOf(std::optional<llvm::APFloat> scale, Tensor query) {
  return scale ? scale->convertToDouble() : 1 / std::sqrt(static_cast<double>(query.shape().back()));
}

/// Heads of keys or values, repeated for all of their queries.
static Tensor headsLike(Tensor x, Tensor query) {
  const int64_t groups = query.shape()[1] / x.shape()[1];
  return groups == 1 ? x : x.repeatInterleave(1, groups);
}

static Tensor zeros(Tensor like, ArrayRef<int64_t> shape) {
  RankedTensorType type = RankedTensorType::get(shape, like.e->builder.getF32Type());
  return like.e->constant(type, SmallVector<double>(type.getNumElements(), 0));
}

/// 0 where a row attends to a column, else -inf: [1, 1, rows, columns].
static Tensor biasOf(Tensor like, int64_t rows, int64_t columns,
                     llvm::function_ref<bool(int64_t row, int64_t column)> sees) {
  SmallVector<double> values;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      values.push_back(sees(row, column) ? 0 : hidden);
  return like.e->constant(RankedTensorType::get({1, 1, rows, columns}, like.e->builder.getF32Type()), values);
}

/// [1, 1, 1, count]
static Tensor columnsOf(Tensor like, int64_t count) {
  SmallVector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(static_cast<double>(i));
  return like.e->constant(RankedTensorType::get({1, 1, 1, count}, like.e->builder.getF32Type()), values);
}

/// -inf where the condition holds, else 0.
static Tensor hiddenWhere(Tensor condition) {
  Tensor none = zeros(condition, condition.shape());
  return condition.select(condition.e->full(hidden, none), none);
}

/// softmax(query * key^T * scale + bias) * value, in f32. A sink is the score of one more key whose value is 0.
static Tensor attend(Tensor query, Tensor key, Tensor value, double scale, ArrayRef<Tensor> biases, Value sink) {
  Tensor scores = query.matmul(headsLike(key, query), /*transposeB=*/true, /*wide=*/true) * static_cast<double>(scale);
  for (Tensor bias : biases)
    scores = scores + bias;
  Tensor most = scores.max({3});
  Tensor sinks = most;
  if (sink) {
    sinks = (*query.e)(sink).wide().reshape({1, query.shape()[1], 1, 1});
    most = most.maximum(sinks);
  }
  Tensor powers = (scores - most).exp(), sum = powers.sum({3});
  if (sink)
    sum = sum + (sinks - most).exp();
  return (powers / sum).as(value.type().getElementType()).matmul(headsLike(value, query), false, /*wide=*/true);
}

static bool hasOtherHeads(Tensor query, Tensor key, std::string &refusal) {
  if (query.rank() == 4 && key.shape()[1] && query.shape()[1] % key.shape()[1] == 0)
    return false;
  refusal = "it has another form than [batch, heads, length, size], with whole groups of queries for each head of keys";
  return true;
}

static SmallVector<Tensor> resultsOf(ttir::ScaledDotProductAttentionOp op, Expressions &e, std::string &refusal) {
  Tensor query = e(op.getQuery()), key = e(op.getKey());
  if (hasOtherHeads(query, key, refusal))
    return {};
  const int64_t rows = query.shape()[2], columns = key.shape()[2];
  SmallVector<Tensor> biases;
  if (op.getAttentionMask())
    biases.push_back(e(op.getAttentionMask()).wide());
  const bool isTriangle = op.getIsCausal() && !op.getAttentionMask();
  if (const std::optional<uint32_t> window = op.getSlidingWindowSize(); isTriangle || window) {
    const int64_t before = !window ? rows : op.getIsCausal() ? int64_t(*window) - 1 : int64_t(*window) / 2;
    const int64_t after = isTriangle ? 0 : op.getIsCausal() || !window ? columns : before;
    biases.push_back(biasOf(query, rows, columns, [&](int64_t row, int64_t column) {
      return column >= row - before && column <= row + after;
    }));
  }
  return {attend(query, key, e(op.getValue()), scaleOf(op.getScale(), query), biases, op.getAttentionSink())};
}

//===----------------------------------------------------------------------===//
// One position of each user, [1, users, heads, size]
//===----------------------------------------------------------------------===//

/// Pages [pages, heads, page size, size] in the order of a table [users, n]: [users, heads, n * page size, size].
static Tensor fromPages(Tensor cache, Tensor table, Operation *op) {
  const int64_t pages = cache.shape()[0], heads = cache.shape()[1], rows = cache.shape()[2], size = cache.shape()[3];
  const int64_t users = table.shape()[0], count = table.shape()[1];
  Tensor chosen = cache.e->rowsAt(cache.reshape({pages, heads * rows * size}), table.reshape({users * count}), op);
  return chosen.reshape({users, count, heads, rows, size})
      .permute({0, 2, 1, 3, 4})
      .reshape({users, heads, count * rows, size});
}

/// The library scales the sum of scores and mask, and the sink.
template <class OpT>
static SmallVector<Tensor> decoded(OpT op, Tensor key, Tensor value, Expressions &e, std::string &refusal) {
  Tensor query = e(op.getQuery()).permute({1, 2, 0, 3});
  if (hasOtherHeads(query, key, refusal))
    return {};
  const int64_t users = query.shape()[0], columns = key.shape()[2];
  const double scale = scaleOf(op.getScale(), query);
  SmallVector<Tensor> biases;
  Tensor column = columnsOf(query, columns), position = zeros(query, {1, 1, 1, 1}) + static_cast<double>(columns - 1);
  const bool isPlaced = op.getIsCausal() && op.getCurPosTensor();
  if (isPlaced) {
    position = e(op.getCurPosTensor()).as(e.builder.getF32Type()).reshape({users, 1, 1, 1});
    biases.push_back(hiddenWhere(position.less(column)));
  }
  if constexpr (requires { op.getSlidingWindowSize(); })
    if (const std::optional<uint32_t> window = op.getSlidingWindowSize())
      biases.push_back(hiddenWhere(column.less(position + (1 - static_cast<double>(*window)))));
  if (op.getAttentionMask()) {
    Tensor mask = e(op.getAttentionMask()).wide();
    if (mask.rank() == 4 && mask.shape()[2] == query.shape()[1] && mask.shape()[1] == 1)
      mask = mask.permute({0, 2, 1, 3});
    biases.push_back(mask * scale);
  }
  Value sink = op.getAttentionSink();
  if (sink)
    sink = (e(sink).wide() * scale).value;
  return {attend(query, key, value, scale, biases, sink).permute({2, 0, 1, 3})};
}

static SmallVector<Tensor> resultsOf(ttir::ScaledDotProductAttentionDecodeOp op, Expressions &e, std::string &refusal) {
  return decoded(op, e(op.getKey()), e(op.getValue()), e, refusal);
}

static SmallVector<Tensor> resultsOf(ttir::PagedScaledDotProductAttentionDecodeOp op, Expressions &e,
                                     std::string &refusal) {
  Tensor table = e(op.getPageTable());
  return decoded(op, fromPages(e(op.getKey()), table, op), fromPages(e(op.getValue()), table, op), e, refusal);
}

static SmallVector<Tensor> resultsOf(ttir::PagedFlashMultiLatentAttentionDecodeOp op, Expressions &e,
                                     std::string &refusal) {
  Tensor key = fromPages(e(op.getKey()), e(op.getPageTable()), op);
  Tensor value = op.getValue() ? fromPages(e(op.getValue()), e(op.getPageTable()), op)
                               : key.slice(3, 0, static_cast<int64_t>(op.getHeadDimV()), 1);
  return decoded(op, key, value, e, refusal);
}

/// Rows begin at a position that is known at run time.
static SmallVector<Tensor> resultsOf(ttir::ChunkedScaledDotProductAttentionOp op, Expressions &e,
                                     std::string &refusal) {
  Tensor query = e(op.getQuery()), table = e(op.getPageTable());
  Tensor key = fromPages(e(op.getKey()), table, op), value = fromPages(e(op.getValue()), table, op);
  if (hasOtherHeads(query, key, refusal))
    return {};
  Tensor start = e(op.getChunkStartIdx()).as(e.builder.getF32Type());
  start = start.reshape({1, 1, 1, start.type().getNumElements()}).slice(3, 0, 1, 1);
  Tensor row = columnsOf(query, query.shape()[2]).permute({0, 1, 3, 2}) + start;
  Tensor bias = hiddenWhere(row.less(columnsOf(query, key.shape()[2])));
  return {attend(query, key, value, scaleOf(op.getScale(), query), bias, {})};
}

//===----------------------------------------------------------------------===//
// Training
//===----------------------------------------------------------------------===//

/// The scores of a training step, plus the mask.
template <class OpT> static Tensor scoresOf(OpT op, Expressions &e) {
  Tensor query = e(op.getQuery()), key = e(op.getKey());
  Tensor scores = query.matmul(headsLike(key, query), /*transposeB=*/true, /*wide=*/true) * scaleOf({}, query);
  if (op.getMaskType() == ttcore::AttentionMaskType::Causal)
    return scores +
           biasOf(query, query.shape()[2], key.shape()[2], [](int64_t row, int64_t column) { return column <= row; });
  if (op.getAttentionMask())
    return scores + (e(op.getAttentionMask()).wide() + -1.0) * 1e9;
  return scores;
}

template <class OpT> static bool drops(OpT op, std::string &refusal) {
  if (op.getDropoutProbability().isZero())
    return false;
  refusal = "its dropout_probability is not 0";
  return true;
}

static SmallVector<Tensor> resultsOf(ttir::SDPAForwardOp op, Expressions &e, std::string &refusal) {
  Tensor query = e(op.getQuery()), value = e(op.getValue());
  if (drops(op, refusal) || hasOtherHeads(query, e(op.getKey()), refusal))
    return {};
  Tensor scores = scoresOf(op, e), most = scores.max({3});
  Tensor powers = (scores - most).exp();
  Tensor sum = powers.sum({3});
  Tensor output =
      (powers / sum).as(value.type().getElementType()).matmul(headsLike(value, query), false, /*wide=*/true);
  if (!op.getIntermediates())
    return {output};
  SmallVector<int64_t> between(most.shape());
  between.back() = 31;
  Tensor none = zeros(query, between);
  Tensor reciprocal = e.full(1, sum) / sum;
  return {output, e.concat({most, none, reciprocal, none}, 3)};
}

static SmallVector<Tensor> resultsOf(ttir::SDPABackwardOp op, Expressions &e, std::string &refusal) {
  Tensor query = e(op.getQuery()).wide(), key = e(op.getKey()).wide(), value = e(op.getValue()).wide();
  if (drops(op, refusal) || hasOtherHeads(query, key, refusal))
    return {};
  Tensor gradient = e(op.getGradOutput()).wide(), statistics = e(op.getIntermediates()).wide();
  Tensor chances = (scoresOf(op, e) - statistics.slice(3, 0, 1, 1)).exp() * statistics.slice(3, 32, 33, 1);
  Tensor common = (gradient * e(op.getAttnOutput()).wide()).sum({3});
  Tensor keys = headsLike(key, query), values = headsLike(value, query);
  Tensor change = chances * (gradient.matmul(values, /*transposeB=*/true) - common) * scaleOf({}, query);
  const auto shared = [&](Tensor each) {
    const int64_t heads = key.shape()[1];
    SmallVector<int64_t> split = {each.shape()[0], heads, each.shape()[1] / heads, each.shape()[2], each.shape()[3]};
    return each.reshape(split).sum({2});
  };
  return {change.matmul(keys), shared(change.permute({0, 1, 3, 2}).matmul(query)),
          shared(chances.permute({0, 1, 3, 2}).matmul(gradient))};
}

void tt::addAttentionComposites(CompositeTable &table) {
  addComposite<ttir::ChunkedScaledDotProductAttentionOp>(table, resultsOf);
  addComposite<ttir::PagedFlashMultiLatentAttentionDecodeOp>(table, resultsOf);
  addComposite<ttir::PagedScaledDotProductAttentionDecodeOp>(table, resultsOf);
  addComposite<ttir::SDPABackwardOp>(table, resultsOf);
  addComposite<ttir::SDPAForwardOp>(table, resultsOf);
  addComposite<ttir::ScaledDotProductAttentionDecodeOp>(table, resultsOf);
  addComposite<ttir::ScaledDotProductAttentionOp>(table, resultsOf);
}
