//===- Normalization.cpp - lowering of normalization ops ------------------===//

#include "Lowering.h"

#include "ttmlir/Dialect/TTCore/Transforms/SourceNumbers.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

/// TTNN normalises the last dimension.
static LogicalResult lowerLastDimNorm(Lowering &lowering) {
  auto normalized = lowering.op->getAttrOfType<DenseI64ArrayAttr>("normalized_shape");
  if (normalized.size() != 1)
    return lowering.refuse("normalized_shape has " + Twine(normalized.size()) +
                           " dimensions; TTNN normalises the last one only");
  SmallVector<NamedAttribute> attrs;
  for (NamedAttribute attr : lowering.op->getAttrs())
    if (attr.getName() != "normalized_shape")
      attrs.push_back(attr);
  return lowerTo(lowering, lowering.op->getName().stripDialect(), attrs);
}

namespace {
/// A batch norm with its channels moved to dimension 1 of 4, where TTNN wants
/// them, and back.
class BatchNorm {
public:
  explicit BatchNorm(Lowering &lowering) : lowering(lowering), op(lowering.op) {
    ArrayRef<int64_t> shape = lowering.shapeOf(op->getOperand(0));
    int64_t rank = shape.size(), dimension = op->getAttrOfType<IntegerAttr>("dimension").getInt();
    channel = dimension < 0 ? dimension + rank : dimension;
    for (int64_t i = 0; i < rank; ++i)
      if (i != channel)
        order.push_back(i);
    order.insert(order.begin() + std::min<int64_t>(1, rank - 1), channel);
    for (int64_t dim : order)
      ordered.push_back(shape[dim]);
    // Extra dimensions of one value, or the inner ones folded.
    folded = ordered;
    if (folded.size() == 1)
      folded.insert(folded.begin(), 1);
    folded.resize(std::max<size_t>(folded.size(), 4), 1);
    while (folded.size() > 4) {
      folded[2] *= folded[3];
      folded.erase(folded.begin() + 3);
    }
  }

  Value input() { return lowering.reshape(lowering.permute(op->getOperand(0), order), folded); }
  RankedTensorType foldedType() { return lowering.typeLike(op->getResult(0), folded); }
  Value unfold(Value value) {
    SmallVector<int64_t> inverse(order.size());
    for (auto [to, from] : llvm::enumerate(order))
      inverse[from] = to;
    return lowering.permute(lowering.reshape(value, ordered), inverse);
  }
  int64_t channels() const { return folded[1]; }
  ArrayRef<int64_t> foldedShape() const { return folded; }

private:
  Lowering &lowering;
  Operation *op;
  int64_t channel;
  SmallVector<int64_t> order, ordered, folded;
};

/// The statistics that training returns: running ones moved towards those of
/// the batch. They carry no source number, because the op's own result does.
class Statistics {
public:
  Statistics(Lowering &lowering, Value input, const BatchNorm &norm)
      : lowering(lowering), input(input), channels(norm.channels()),
        momentum(lowering.op->getAttrOfType<FloatAttr>("momentum").getValueAsDouble()), shape(norm.foldedShape()) {
    mean = reduce(input);
    Value spread = lowering.reshape(mean, {1, channels, 1, 1});
    Value centred = make("subtract", {input, spread}, shape);
    variance = reduce(make("multiply", {centred, centred}, shape));
  }

  Value update(Value running, Value batch, RankedTensorType type) {
    Value old = make("multiply", {running, lowering.scalar(1 - momentum, 1, input)}, {channels});
    Value fresh = make("multiply", {batch, lowering.scalar(momentum, 1, input)}, {channels});
    return lowering.make("add", {old, fresh}, type);
  }

  Value mean, variance;

private:
  Value make(StringRef name, ValueRange operands, ArrayRef<int64_t> shape) {
    return lowering.make(name, operands, lowering.typeLike(input, shape, ttcore::DataType::Float32));
  }
  Value reduce(Value value) {
    Builder &builder = lowering.attributes();
    return lowering.make("mean", value, lowering.typeLike(input, {channels}, ttcore::DataType::Float32),
                         {lowering.attr("keep_dim", builder.getBoolAttr(false)),
                          lowering.attr("dim_arg", builder.getI32ArrayAttr({0, 2, 3}))});
  }

  Lowering &lowering;
  Value input;
  int64_t channels;
  double momentum;
  SmallVector<int64_t> shape;
};
} // namespace

/// TTIR: operand, scale, offset, mean, variance. TTNN: input, mean, variance,
/// weight, bias.
static SmallVector<NamedAttribute> attributes(Lowering &lowering, bool training) {
  SmallVector<NamedAttribute> attrs = {lowering.attr("epsilon", lowering.op->getAttr("epsilon")),
                                       lowering.attr("operandSegmentSizes", lowering.attributes().getDenseI32ArrayAttr(
                                                                                {1, !training, !training, 1, 1}))};
  if (training)
    attrs.push_back(lowering.attr("momentum", lowering.op->getAttr("momentum")));
  return attrs;
}

static LogicalResult lowerInference(Lowering &lowering) {
  Operation *op = lowering.op;
  BatchNorm norm(lowering);
  Value value =
      lowering.make("batch_norm_inference",
                    {norm.input(), op->getOperand(3), op->getOperand(4), op->getOperand(1), op->getOperand(2)},
                    norm.foldedType(), attributes(lowering, /*training=*/false));
  return lowering.replace(norm.unfold(value));
}

/// The TTNN op would update running statistics in place; TTIR returns them, so
/// they are computed beside it.
static LogicalResult lowerTraining(Lowering &lowering) {
  Operation *op = lowering.op;
  if (!lowering.device())
    return lowering.refuse("there is no device to compute its statistics on");
  BatchNorm norm(lowering);
  Location loc = op->getLoc();
  op->setLoc(ttcore::withoutSourceNumber(loc));
  Value input = norm.input();
  SmallVector<Value> results(3);
  if (!op->getResult(1).use_empty() || !op->getResult(2).use_empty()) {
    Statistics statistics(lowering, input, norm);
    results[1] = statistics.update(op->getOperand(3), statistics.mean, lowering.resultType(1));
    results[2] = statistics.update(op->getOperand(4), statistics.variance, lowering.resultType(2));
  }
  op->setLoc(loc);
  results[0] = norm.unfold(lowering.make("batch_norm_training", {input, op->getOperand(1), op->getOperand(2)},
                                         norm.foldedType(), attributes(lowering, /*training=*/true)));
  return lowering.replace(results);
}

/// TTNN's have operands of the chips' library behind those of TTIR: rms_norm buffers for its statistics, both a device.
static LogicalResult lowerDistributed(Lowering &lowering) {
  Operation *op = lowering.op;
  Value device = lowering.device();
  if (!device)
    return lowering.refuse("there is no mesh to gather its statistics over");
  auto given = op->getAttrOfType<DenseI32ArrayAttr>("operandSegmentSizes");
  SmallVector<int32_t> segments(given.asArrayRef());
  if (isa<ttir::DistributedRMSNormOp>(op))
    segments.append({0, 0});
  segments.push_back(1);
  SmallVector<Value> operands(op->getOperands());
  operands.push_back(device);
  return lowering.replaceBy(
      ("ttnn." + op->getName().stripDialect()).str(), operands,
      {lowering.attr("cluster_axis", op->getAttr("cluster_axis")), lowering.attr("epsilon", op->getAttr("epsilon")),
       lowering.attr("operandSegmentSizes", lowering.attributes().getDenseI32ArrayAttr(segments))});
}

void ttnn::addNormalizationRules(Rules &rules) {
  rules["batch_norm_inference"] = lowerInference;
  rules["batch_norm_training"] = lowerTraining;
  rules["layer_norm"] = rules["rms_norm"] = lowerLastDimNorm;
  rules["distributed_layer_norm"] = rules["distributed_rms_norm"] = lowerDistributed;
}
