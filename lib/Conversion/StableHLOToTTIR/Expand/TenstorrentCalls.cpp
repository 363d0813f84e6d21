//===- TenstorrentCalls.cpp - composites that TTIR has an op for ----------===//
// SPDX-License-Identifier: Apache-2.0
//
// The same name is a composite or, if its sharding rule was needed, a custom call with the composite's attributes. If
// no op computes exactly what the composite specifies, a composite is left to its decomposition, and a call is refused.
//
//===----------------------------------------------------------------------===//

#include "Expressions.h"

#include "ttmlir/Dialect/StableHLO/Transforms/Attributes.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ArgMaxOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/DistributedRMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GatherOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GeluOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/GroupNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/LayerNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RMSNormOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/RandOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/ScaledDotProductAttentionOp.h"
#include "ttmlir/Dialect/TTIR/IR/Ops/TopKOp.h"

#include "mlir/IR/Matchers.h"

#include <numbers>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::hlo;

namespace {
/// The results, or none if the op does not fit.
using Results = SmallVector<Value>;
using Make = Results (*)(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes);

FloatAttr f32(Builder &builder, DictionaryAttr attributes, StringRef name, double otherwise) {
  auto given = attributes.getAs<FloatAttr>(name);
  return builder.getF32FloatAttr(static_cast<float>(given ? given.getValueAsDouble() : otherwise));
}

bool flag(DictionaryAttr attributes, StringRef name, bool otherwise) {
  auto given = attributes.getAs<BoolAttr>(name);
  return given ? given.getValue() : otherwise;
}

/// "tanh" is PyTorch's approximation of the error function.
Results makeGelu(ImplicitLocOpBuilder &builder, Operation *op, StringRef approximate) {
  if (op->getNumOperands() != 1 || op->getResult(0).getType() != op->getOperand(0).getType())
    return {};
  if (approximate == "none")
    return {make<ttir::GeluOp>(builder, op->getResult(0).getType(), op->getOperands())};
  if (approximate != "tanh" || !isa<FloatType>(typeOf(op->getOperand(0)).getElementType()))
    return {};
  Expr x(builder, op->getOperand(0));
  Expr inner = (x + x * x * x * 0.044715) * (std::numbers::sqrt2 * std::numbers::inv_sqrtpi);
  return {(x * 0.5 * (inner.apply<stablehlo::TanhOp>() + 1)).value()};
}

template <bool tanh> Results makeGelu(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  auto approximate = attributes.getAs<StringAttr>("approximate");
  return makeGelu(builder, op, approximate ? approximate.getValue() : tanh ? "tanh" : "none");
}

template <class OpT> Results makeNorm(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  std::optional<SmallVector<int64_t>> shape = shlo::integersOf(attributes.get("normalized_shape"));
  const unsigned count = op->getNumOperands();
  if (!shape || count < 1 || count > 3 || op->getResult(0).getType() != op->getOperand(0).getType() ||
      shape->size() > typeOf(op->getOperand(0)).getShape().size() ||
      ArrayRef(*shape) != typeOf(op->getOperand(0)).getShape().take_back(shape->size()))
    return {};
  return {OpT::create(builder, op->getResult(0).getType(), op->getOperand(0), count > 1 ? op->getOperand(1) : Value(),
                      count > 2 ? op->getOperand(2) : Value(), builder.getDenseI64ArrayAttr(*shape),
                      f32(builder, attributes, "epsilon", 1e-5))
              ->getResult(0)};
}

/// Normalizes rows that are split over the devices along an axis of the mesh; each device returns its part. Accepts a
/// call only: a composite would have no decomposition without collectives.
Results makeDistributedRMSNorm(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  auto axis = attributes.getAs<IntegerAttr>("cluster_axis");
  const unsigned count = op->getNumOperands();
  if (!isa<stablehlo::CustomCallOp>(op) || !axis || count < 1 || count > 3)
    return {};
  // The op states which numbers it takes; numbers that it cannot hold must not be replaced by others.
  if (!axis.getValue().isIntN(32))
    return {};
  return {ttir::DistributedRMSNormOp::create(builder, op->getResult(0).getType(), op->getOperand(0),
                                             count > 1 ? op->getOperand(1) : Value(),
                                             count > 2 ? op->getOperand(2) : Value(),
                                             builder.getIntegerAttr(builder.getIntegerType(32, false), axis.getInt()),
                                             f32(builder, attributes, "epsilon", 1e-5))
              ->getResult(0)};
}

/// A dimension that an attribute names, counted from the front; nothing if the tensor does not have it.
std::optional<int64_t> dimensionOf(RankedTensorType type, IntegerAttr given, int64_t otherwise) {
  const std::optional<int64_t> value = given ? shlo::integerOf(given) : otherwise;
  if (!value || *value < -type.getRank() || *value >= type.getRank())
    return std::nullopt;
  return *value + (*value < 0 ? type.getRank() : 0);
}

/// The greatest or least elements, in order, along a dimension; with `only`, either values or positions.
template <int only> Results makeTopK(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  const std::optional<int64_t> k = shlo::integerOf(attributes.get("k"));
  if (op->getNumOperands() != 1 || op->getNumResults() != (only < 0 ? 2 : 1))
    return {};
  RankedTensorType type = typeOf(op->getOperand(0));
  std::optional<int64_t> dim = dimensionOf(type, attributes.getAs<IntegerAttr>("dim"), -1);
  if (!k || !dim || *k < 1 || *k > std::min<int64_t>(type.getDimSize(*dim), std::numeric_limits<int32_t>::max()))
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape[*dim] = *k;
  // In PyTorch's order, because this was an op of PyTorch, and not in chlo's.
  auto top = ttir::TopKOp::create(builder, TypeRange({type.clone(shape), type.clone(shape, builder.getI32Type())}),
                                  op->getOperand(0), static_cast<int32_t>(*k), static_cast<int32_t>(*dim),
                                  flag(attributes, "largest", true), flag(attributes, "sorted", false));
  Results results;
  for (int i = 0; i < 2; ++i)
    if (only < 0 || only == i)
      results.push_back(
          Expr(builder, top->getResult(i)).convert(typeOf(op->getResult(results.size())).getElementType()).value());
  return results;
}

/// The position of the greatest value along a dimension, or in the whole tensor.
Results makeArgMax(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  auto given = attributes.getAs<IntegerAttr>("dim");
  if (op->getNumOperands() != 1)
    return {};
  std::optional<int64_t> dim = dimensionOf(typeOf(op->getOperand(0)), given, 0);
  if (given && !dim)
    return {};
  RankedTensorType type = typeOf(op->getResult(0));
  Value position = ttir::ArgMaxOp::create(builder, type.clone(builder.getI32Type()), op->getOperand(0),
                                          builder.getBoolAttr(flag(attributes, "keepdim", false)),
                                          given ? builder.getI32ArrayAttr({static_cast<int32_t>(*dim)}) : ArrayAttr());
  return {Expr(builder, position).convert(type.getElementType()).value()};
}

/// The values at the positions of the second operand along a dimension.
Results makeGather(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  auto given = attributes.getAs<IntegerAttr>("dim");
  if (op->getNumOperands() != 2 || !given)
    return {};
  RankedTensorType type = typeOf(op->getOperand(0)), index = typeOf(op->getOperand(1));
  std::optional<int64_t> dim = dimensionOf(type, given, 0);
  if (!dim || !isa<IntegerType>(index.getElementType()) || index.getRank() != type.getRank() ||
      op->getResult(0).getType() != type.clone(index.getShape()))
    return {};
  return {ttir::GatherOp::create(builder, op->getResult(0).getType(), op->getOperand(0), op->getOperand(1),
                                 builder.getI32IntegerAttr(static_cast<int32_t>(*dim)))};
}

/// Expects rank 4: missing dimensions of size 1 are added at the end.
Results makeGroupNorm(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  std::optional<int64_t> groups = shlo::integerOf(attributes.get("num_groups"));
  if (std::optional<SmallVector<int64_t>> all = shlo::integersOf(attributes.get("num_groups")); all && all->size() == 1)
    groups = all->front();
  const unsigned count = op->getNumOperands();
  if (!groups || count < 1 || count > 3 || op->getResult(0).getType() != op->getOperand(0).getType())
    return {};
  RankedTensorType type = typeOf(op->getOperand(0));
  std::optional<int64_t> channel = dimensionOf(type, attributes.getAs<IntegerAttr>("channel_dim"), 1);
  if (!channel || type.getRank() < 2 || type.getRank() > 4 || *groups < 1 || type.getDimSize(*channel) % *groups != 0)
    return {};
  SmallVector<int64_t> shape(type.getShape());
  shape.resize(4, 1);
  Expr input = Expr(builder, op->getOperand(0)).reshape(shape);
  Value normal = ttir::GroupNormOp::create(
      builder, input.type(), input.value(), /*input_mask=*/Value(), count > 1 ? op->getOperand(1) : Value(),
      count > 2 ? op->getOperand(2) : Value(), builder.getI64IntegerAttr(*groups),
      f32(builder, attributes, "epsilon", 1e-5), builder.getI64IntegerAttr(*channel));
  return {Expr(builder, normal).reshape(type.getShape()).value()};
}

/// Values between two constants, different in every run.
Results makeUniform(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr) {
  if (op->getNumOperands() < 2)
    return {};
  RankedTensorType type = typeOf(op->getResult(0));
  double limits[2] = {};
  for (unsigned i = 0; i < 2; ++i) {
    DenseFPElementsAttr value;
    if (!matchPattern(op->getOperand(i), m_Constant(&value)) || value.getNumElements() != 1)
      return {};
    APFloat number = *value.value_begin<APFloat>();
    bool loses = false;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &loses);
    limits[i] = number.convertToDouble();
  }
  if (!isa<FloatType>(type.getElementType()) || !type.hasStaticShape() ||
      llvm::any_of(type.getShape(), [](int64_t n) { return n > std::numeric_limits<int32_t>::max(); }))
    return {};
  NamedAttrList drawn;
  drawn.append("size", builder.getI32ArrayAttr(llvm::to_vector_of<int32_t>(type.getShape())));
  drawn.append("low", builder.getF32FloatAttr(static_cast<float>(limits[0])));
  drawn.append("high", builder.getF32FloatAttr(static_cast<float>(limits[1])));
  OperationState state(op->getLoc(), "ttir.rand", {}, TypeRange(type), drawn.getAttrs());
  return {builder.create(state)->getResult(0)};
}

/// Expects rank 4; a missing head dimension is added, as are leading ones of a mask.
Results makeAttention(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  const bool causal = flag(attributes, "is_causal", true);
  const unsigned count = op->getNumOperands();
  if (count < 3 || count > 4 || (count == 4 && causal))
    return {};
  const int64_t rank = typeOf(op->getOperand(0)).getRank();
  if (rank != 3 && rank != 4)
    return {};
  auto withHead = [&](Value value) {
    SmallVector<int64_t> shape(typeOf(value).getShape());
    if (rank == 3)
      shape.insert(shape.begin() + 1, 1);
    return Expr(builder, value).reshape(shape).value();
  };
  Value mask;
  if (count == 4) {
    SmallVector<int64_t> shape(typeOf(op->getOperand(3)).getShape());
    if (rank == 3 && shape.size() == 3)
      shape.insert(shape.begin() + 1, 1);
    shape.insert(shape.begin(), shape.size() < 4 ? 4 - shape.size() : 0, 1);
    mask = Expr(builder, op->getOperand(3)).reshape(shape).value();
  }
  auto scale = attributes.getAs<FloatAttr>("scale");
  Value query = withHead(op->getOperand(0)), key = withHead(op->getOperand(1)), value = withHead(op->getOperand(2));
  Value attention = ttir::ScaledDotProductAttentionOp::create(
      builder, query.getType(), query, key, value, mask, /*attention_sink=*/Value(), builder.getBoolAttr(causal),
      scale ? builder.getF32FloatAttr(static_cast<float>(scale.getValueAsDouble())) : FloatAttr(),
      /*sliding_window_size=*/IntegerAttr());
  return {Expr(builder, attention).reshape(typeOf(op->getResult(0)).getShape()).value()};
}

/// The op of that name, with the operands and result types of this one.
Results sameWith(ImplicitLocOpBuilder &builder, StringRef name, Operation *op, const NamedAttrList &attributes) {
  OperationState state(op->getLoc(), name, op->getOperands(), op->getResultTypes(), attributes);
  return llvm::to_vector_of<Value>(builder.create(state)->getResults());
}

/// A step of an optimizer: all operands but the gradient are also results.
Results makeAdamW(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  const unsigned count = op->getNumOperands();
  if (count < 4 || count > 5 || op->getNumResults() != count - 1)
    return {};
  NamedAttrList translated;
  for (StringRef name : {"lr", "beta1", "beta2", "beta1_pow", "beta2_pow", "epsilon", "weight_decay"}) {
    if (!attributes.getAs<FloatAttr>(name))
      return {};
    translated.append(name, f32(builder, attributes, name, 0));
  }
  translated.append("stochastic_rounding", builder.getBoolAttr(flag(attributes, "stochastic_rounding", false)));
  return sameWith(builder, "ttir.adamw", op, translated);
}

/// Attention of a training step, or its gradients. `own`: operands other than the mask, which only mask_type 2 has.
Results makeTraining(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes, StringRef name,
                     unsigned own, int64_t maskType) {
  if (auto given = attributes.getAs<IntegerAttr>("mask_type"))
    maskType = given.getValue().isIntN(32) ? given.getInt() : -1;
  const auto mask = maskType < 0 ? std::nullopt : ttcore::symbolizeAttentionMaskType(static_cast<uint32_t>(maskType));
  const bool masked = mask == ttcore::AttentionMaskType::Arbitrary;
  FloatAttr dropout = f32(builder, attributes, "dropout_probability", 0);
  if (!mask || op->getNumOperands() != own + (masked ? 1 : 0) || !dropout.getValue().isZero())
    return {};
  NamedAttrList translated;
  translated.append("mask_type", ttcore::AttentionMaskTypeAttr::get(builder.getContext(), *mask));
  translated.append("dropout_probability", dropout);
  if (name == "ttir.sdpa_fw")
    translated.append("return_intermediates", builder.getBoolAttr(op->getNumResults() == 2));
  return sameWith(builder, name, op, translated);
}

Results makeSDPAForward(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  return op->getNumResults() > 2 ? Results() : makeTraining(builder, op, attributes, "ttir.sdpa_fw", 3, 1);
}

Results makeSDPABackward(ImplicitLocOpBuilder &builder, Operation *op, DictionaryAttr attributes) {
  return op->getNumResults() != 3 ? Results() : makeTraining(builder, op, attributes, "ttir.sdpa_bw", 6, 2);
}

struct Row {
  StringRef name;
  Make make;
};
constexpr Row rows[] = {
    {"tenstorrent.adamw", makeAdamW},
    {"tenstorrent.argmax", makeArgMax},
    {"tenstorrent.distributed_rms_norm", makeDistributedRMSNorm},
    {"tenstorrent.gather", makeGather},
    {"tenstorrent.gather_dim", makeGather},
    {"tenstorrent.gelu", makeGelu<false>},
    {"tenstorrent.gelu_tanh", makeGelu<true>},
    {"tenstorrent.group_norm", makeGroupNorm},
    {"tenstorrent.layer_norm", makeNorm<ttir::LayerNormOp>},
    {"tenstorrent.rms_norm", makeNorm<ttir::RMSNormOp>},
    {"tenstorrent.scaled_dot_product_attention", makeAttention},
    {"tenstorrent.sdpa_bw", makeSDPABackward},
    {"tenstorrent.sdpa_fw", makeSDPAForward},
    {"tenstorrent.topk", makeTopK<-1>},
    {"tenstorrent.topk_indices", makeTopK<1>},
    {"tenstorrent.topk_values", makeTopK<0>},
    {"tenstorrent.uniform", makeUniform},
};

LogicalResult replaceByRow(Operation *op, StringRef name, DictionaryAttr attributes, PatternRewriter &rewriter) {
  const auto *row = llvm::find_if(rows, [&](const Row &each) { return each.name == name; });
  if (row == std::end(rows) || op->getNumResults() == 0 ||
      !llvm::all_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>))
    return failure();
  ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
  Results results = row->make(builder, op, attributes ? attributes : rewriter.getDictionaryAttr({}));
  if (results.size() != op->getNumResults() || ValueRange(results).getTypes() != op->getResultTypes())
    return failure();
  rewriter.replaceOp(op, results);
  return success();
}

struct ExpandTenstorrentComposite : OpRewritePattern<stablehlo::CompositeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CompositeOp op, PatternRewriter &rewriter) const override {
    return replaceByRow(op, op.getName(), op.getCompositeAttributes().value_or(DictionaryAttr()), rewriter);
  }
};

struct ExpandTenstorrentCall : OpRewritePattern<stablehlo::CustomCallOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(stablehlo::CustomCallOp op, PatternRewriter &rewriter) const override {
    return replaceByRow(op, op.getCallTargetName(), op->getAttrOfType<DictionaryAttr>("tt.composite_attributes"),
                        rewriter);
  }
};
} // namespace

void hlo::addTenstorrentExpansions(RewritePatternSet &patterns) {
  patterns.add<ExpandTenstorrentCall, ExpandTenstorrentComposite>(patterns.getContext());
}
