//===- Normalization.cpp - shapes of norms, attention and caches ----------===//

#include "Detail.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mlir::tt::shapes;

/// `value`, if there is one, has the shape `expected`, or as many values and
/// otherwise sizes of 1 if `reshaped`.
static LogicalResult checkParameter(const Reporter &report, Value value, StringRef name, ArrayRef<int64_t> expected,
                                    bool reshaped = false) {
  if (!value)
    return success();
  FailureOr<RankedTensorType> type = ranked(report, value, name);
  if (failed(type))
    return failure();
  auto withoutOnes = [](ArrayRef<int64_t> shape) {
    return llvm::to_vector(llvm::make_filter_range(shape, [](int64_t size) { return size != 1; }));
  };
  bool fits = reshaped ? withoutOnes(type->getShape()) == withoutOnes(expected) : type->getShape() == expected;
  if (fits)
    return success();
  return report.error("operand '", name, "' has shape ", text(type->getShape()), "; expected ", text(expected));
}

LogicalResult tt::shapes::layerNorm(const Reporter &report, Value input, Value weight, Value bias,
                                    ArrayRef<int64_t> normalized, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  if (normalized.empty() || static_cast<int64_t>(normalized.size()) > type->getRank() ||
      type->getShape().take_back(normalized.size()) != normalized)
    return report.error("attribute 'normalized_shape' is ", text(normalized), "; expected the last sizes of ",
                        text(type->getShape()));
  if (failed(checkParameter(report, weight, "weight", normalized)) ||
      failed(checkParameter(report, bias, "bias", normalized)))
    return failure();
  results.push_back(*type);
  return success();
}

LogicalResult tt::shapes::layerNormLastDim(const Reporter &report, Value input, Value weight, Value bias,
                                           Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  if (type->getRank() == 0)
    return report.error("operand 'input' is ", *type, "; expected rank 1 or more");
  ArrayRef<int64_t> last = type->getShape().take_back(1);
  // Weights may lie in rows of a tile's width.
  for (auto [name, value] : {std::pair<StringRef, Value>("weight", weight), {"bias", bias}}) {
    if (!value)
      continue;
    FailureOr<RankedTensorType> parameter = ranked(report, value, name);
    if (failed(parameter))
      return failure();
    if (product(parameter->getShape()) != last[0])
      return report.error("operand '", name, "' has shape ", text(parameter->getShape()), "; expected ", text(last));
  }
  results.push_back(*type);
  return success();
}

/// A tensor that is added to the input has its shape.
static LogicalResult checkResidual(const Reporter &report, Value residual, RankedTensorType input) {
  return checkParameter(report, residual, "residual", input.getShape());
}

LogicalResult tt::shapes::residualNorm(const Reporter &report, Value input, Value weight, Value bias, Value residual,
                                       Types &results) {
  if (failed(layerNormLastDim(report, input, weight, bias, results)))
    return failure();
  return checkResidual(report, residual, cast<RankedTensorType>(input.getType()));
}

constexpr int64_t tileColumns = 32;

LogicalResult tt::shapes::rowSums(const Reporter &report, Value input, Value residual, int64_t count, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input");
  if (failed(type))
    return failure();
  if (type->getRank() == 0)
    return report.error("operand 'input' is ", *type, "; expected rank 1 or more");
  if (failed(checkResidual(report, residual, *type)))
    return failure();
  Shape shape(type->getShape());
  shape.back() = count * tileColumns;
  return push(report, shape, *type, results);
}

LogicalResult tt::shapes::normOfSums(const Reporter &report, Value input, Value stats, Value weight, Value bias,
                                     Types &results) {
  if (failed(layerNormLastDim(report, input, weight, bias, results)))
    return failure();
  FailureOr<RankedTensorType> sums = ranked(report, stats, "stats");
  if (failed(sums))
    return failure();
  ArrayRef<int64_t> rows = cast<RankedTensorType>(input.getType()).getShape().drop_back();
  if (sums->getRank() == 0 || sums->getShape().drop_back() != rows || sums->getShape().back() < 1 ||
      sums->getShape().back() % (2 * tileColumns) != 0) {
    Shape expected(rows);
    expected.push_back(2 * tileColumns);
    return report.error("operand 'stats' has shape ", text(sums->getShape()), "; expected ", text(expected),
                        " for each chip, side by side");
  }
  return success();
}

LogicalResult tt::shapes::groupNorm(const Reporter &report, Value input, Value weight, Value bias, int64_t groups,
                                    int64_t channelDim, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "channel_dim", channelDim, 4);
  if (failed(position))
    return failure();
  int64_t channels = type->getDimSize(*position);
  if (groups < 1 || channels % groups != 0)
    return report.error("attribute 'num_groups' is ", groups, ", which does not divide ", channels, " channels");
  if (failed(checkParameter(report, weight, "weight", {channels}, /*reshaped=*/true)) ||
      failed(checkParameter(report, bias, "bias", {channels}, /*reshaped=*/true)))
    return failure();
  results.push_back(*type);
  return success();
}

LogicalResult tt::shapes::batchNorm(const Reporter &report, Value input, ArrayRef<NamedValue> parameters,
                                    int64_t dimension, bool training, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "operand");
  if (failed(type))
    return failure();
  FailureOr<int64_t> position = axis(report, "dimension", dimension, type->getRank());
  if (failed(position))
    return failure();
  int64_t channels = type->getDimSize(*position);
  for (const NamedValue &parameter : parameters)
    if (failed(checkParameter(report, parameter.value, parameter.name, {channels})))
      return failure();
  results.push_back(*type);
  if (training)
    for (const NamedValue &running : parameters.take_back(2))
      results.push_back(running.value.getType());
  return success();
}

LogicalResult tt::shapes::batchNormChannels(const Reporter &report, Value input, ArrayRef<NamedValue> parameters,
                                            Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  for (const NamedValue &parameter : parameters)
    if (failed(checkParameter(report, parameter.value, parameter.name, {1, type->getDimSize(1), 1, 1},
                              /*reshaped=*/true)))
      return failure();
  results.push_back(*type);
  return success();
}

LogicalResult tt::shapes::attention(const Reporter &report, Value query, Value key, Value value, Value mask,
                                    Types &results) {
  SmallVector<RankedTensorType> types;
  for (auto [name, operand] : {std::pair<StringRef, Value>("query", query), {"key", key}, {"value", value}}) {
    FailureOr<RankedTensorType> type = ranked(report, operand, name, 4);
    if (failed(type))
      return failure();
    types.push_back(*type);
  }
  ArrayRef<int64_t> q = types[0].getShape(), k = types[1].getShape(), v = types[2].getShape();
  if (k.drop_back() != v.drop_back())
    return report.error("operands 'key' and 'value' have shapes ", text(k), " and ", text(v),
                        "; they may differ only in the last size");
  if (q[0] != k[0])
    return report.error("batch sizes ", q[0], " of 'query' and ", k[0], " of 'key' differ");
  if (k[1] < 1 || q[1] % k[1] != 0)
    return report.error(q[1], " heads of 'query' are no multiple of ", k[1], " heads of 'key'");
  if (q[3] != k[3])
    return report.error("head sizes ", q[3], " of 'query' and ", k[3], " of 'key' differ");
  if (mask) {
    FailureOr<RankedTensorType> maskType = ranked(report, mask, "attention_mask", 4);
    if (failed(maskType))
      return failure();
    const Shape scores = {q[0], q[1], q[2], k[2]};
    for (auto [size, expected] : llvm::zip(maskType->getShape(), scores))
      if (size != expected && size != 1)
        return report.error("operand 'attention_mask' has shape ", text(maskType->getShape()),
                            ", which does not broadcast to ", text(scores));
  }
  return push(report, {q[0], q[1], q[2], v[3]}, types[0], results);
}

LogicalResult tt::shapes::checkCache(const Reporter &report, Value cache, Value input, int64_t batchOffset,
                                     bool onePosition) {
  FailureOr<RankedTensorType> cacheType = ranked(report, cache, "cache", 4);
  if (failed(cacheType))
    return failure();
  FailureOr<RankedTensorType> inputType = ranked(report, input, "input", 4);
  if (failed(inputType))
    return failure();
  ArrayRef<int64_t> c = cacheType->getShape(), i = inputType->getShape();
  if (c[3] != i[3])
    return report.error("head sizes ", c[3], " of 'cache' and ", i[3], " of 'input' differ");
  if (batchOffset < 0 || batchOffset >= c[0])
    return report.error("attribute 'batch_offset' is ", batchOffset, "; expected 0 to ", c[0] - 1);
  // One position of all batches may also come as [1, heads, batch, size].
  if (onePosition ? (i[2] != 1 && i[0] != 1) : i[2] > c[2])
    return report.error("operand 'input' has ", i[2], " positions; expected ", onePosition ? "1" : "at most ",
                        onePosition ? std::string() : std::to_string(c[2]));
  if (i[1] != c[1])
    return report.error("numbers of heads ", c[1], " of 'cache' and ", i[1], " of 'input' differ");
  const int64_t users = onePosition && i[0] == 1 ? i[2] : i[0];
  if (users > c[0] - batchOffset)
    return report.error("operand 'input' has a batch of ", users, "; expected at most ", c[0] - batchOffset,
                        ", the batches of 'cache' from 'batch_offset' on");
  return success();
}

LogicalResult tt::shapes::checkPagedCache(const Reporter &report, Value cache, Value input) {
  FailureOr<RankedTensorType> cacheType = ranked(report, cache, "cache", 4);
  if (failed(cacheType))
    return failure();
  FailureOr<RankedTensorType> inputType = ranked(report, input, "input", 4);
  if (failed(inputType))
    return failure();
  if (cacheType->getDimSize(3) != inputType->getDimSize(3))
    return report.error("head sizes ", cacheType->getDimSize(3), " of 'cache' and ", inputType->getDimSize(3),
                        " of 'input' differ");
  if (inputType->getDimSize(0) != 1)
    return report.error("operand 'input' has the first size ", inputType->getDimSize(0), "; expected 1");
  return success();
}

LogicalResult tt::shapes::splitHeads(const Reporter &report, Value input, Value keyValue, int64_t heads,
                                     std::optional<int64_t> keyValueHeads, bool transposeKey, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input_tensor", 3);
  if (failed(type))
    return failure();
  int64_t others = keyValueHeads.value_or(heads);
  if (heads < 1 || others < 1)
    return report.error("has ", heads, " query and ", others, " key heads; expected 1 or more");
  int64_t batch = type->getDimSize(0), positions = type->getDimSize(1), width = type->getDimSize(2);
  // Both are 32-bit numbers.
  int64_t parts = keyValue ? heads : heads + 2 * others;
  if (width % parts != 0)
    return report.error("the last size ", width, " of 'input_tensor' does not divide into ", parts, " heads");
  int64_t size = width / parts;
  if (keyValue) {
    FailureOr<RankedTensorType> other = ranked(report, keyValue, "kv_input_tensor", 3);
    if (failed(other))
      return failure();
    if (other->getDimSize(2) % (2 * others) != 0 || other->getDimSize(2) / (2 * others) != size ||
        other->getShape().drop_back() != type->getShape().drop_back())
      return report.error("operand 'kv_input_tensor' has shape ", text(other->getShape()), "; expected ",
                          text({batch, positions, 2 * others}), " times the head size ", size);
  }
  Shape key = {batch, others, positions, size};
  if (transposeKey)
    std::swap(key[2], key[3]);
  return success(succeeded(push(report, {batch, heads, positions, size}, *type, results)) &&
                 succeeded(push(report, key, *type, results)) &&
                 succeeded(push(report, {batch, others, positions, size}, *type, results)));
}

LogicalResult tt::shapes::joinDecodedHeads(const Reporter &report, Value input, int64_t heads, Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> shape = type->getShape();
  if (shape[0] != 1)
    return report.error("operand 'input' has shape ", text(shape), "; expected one position, 1 x users x heads x size");
  if (heads < 1 || heads > shape[2])
    return report.error("attribute 'num_heads' is ", heads, "; expected 1 to ", shape[2]);
  return push(report, {1, 1, shape[1], heads * shape[3]}, *type, results);
}

LogicalResult tt::shapes::decodedHeads(const Reporter &report, Value input, Value batchOffset, int64_t heads,
                                       std::optional<int64_t> keyValueHeads, std::optional<int64_t> sliceSize,
                                       Types &results) {
  FailureOr<RankedTensorType> type = ranked(report, input, "input", 4);
  if (failed(type))
    return failure();
  ArrayRef<int64_t> shape = type->getShape();
  if (shape[0] != 1 || shape[1] != 1)
    return report.error("operand 'input' has shape ", text(shape),
                        "; expected one position, 1 x 1 x users x (heads * size)");
  const int64_t others = keyValueHeads.value_or(heads);
  if (heads < 1 || others < 1)
    return report.error("has ", heads, " query and ", others, " key heads; expected 1 or more");
  const int64_t parts = heads + 2 * others; // both are 32-bit numbers
  if (shape[3] % parts != 0)
    return report.error("the last size ", shape[3], " of 'input' does not divide into ", parts, " heads");
  if (static_cast<bool>(batchOffset) != sliceSize.has_value())
    return report.error("has ", batchOffset ? "operand 'batch_offset'" : "attribute 'slice_size'", " without ",
                        batchOffset ? "attribute 'slice_size'" : "operand 'batch_offset'");
  if (batchOffset) {
    FailureOr<RankedTensorType> offset = ranked(report, batchOffset, "batch_offset");
    if (failed(offset))
      return failure();
    if (product(offset->getShape()) < 1 || !offset->getElementType().isInteger())
      return report.error("operand 'batch_offset' is ", *offset, "; expected an integer");
    if (*sliceSize < 1 || *sliceSize > shape[2])
      return report.error("attribute 'slice_size' is ", *sliceSize, "; expected 1 to ", shape[2], " users");
  }
  const int64_t users = sliceSize.value_or(shape[2]), size = shape[3] / parts;
  return success(succeeded(push(report, {1, users, heads, size}, *type, results)) &&
                 succeeded(push(report, {1, users, others, size}, *type, results)) &&
                 succeeded(push(report, {1, users, others, size}, *type, results)));
}

LogicalResult tt::shapes::latentAttention(const Reporter &report, Value query, Value key, Value value,
                                          int64_t valueSize, Types &results) {
  FailureOr<RankedTensorType> queryType = ranked(report, query, "query", 4), keyType = ranked(report, key, "key", 4);
  if (failed(queryType) || failed(keyType))
    return failure();
  Shape shape(queryType->getShape());
  if (keyType->getDimSize(3) != shape[3])
    return report.error("operand 'key' has shape ", text(keyType->getShape()), "; expected heads of ", shape[3]);
  if (valueSize < 1 || valueSize > shape[3])
    return report.error("attribute 'head_dim_v' is ", valueSize, "; expected 1 to ", shape[3]);
  Shape values(keyType->getShape());
  values[3] = shape[3] = valueSize;
  if (failed(checkParameter(report, value, "value", values)))
    return failure();
  return push(report, shape, *queryType, results);
}
