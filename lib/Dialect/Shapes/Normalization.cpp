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
