//===- Shapes.h - result types of TTIR and TTNN ops -------------*- C++ -*-===//
//
// One function per family, shared by both dialects. They run before any
// verifier, on whatever a parser or a Python program hands over, so they trust
// nothing but the number of operands and the presence and kind of attributes,
// which the generated caller has checked.
//
// Every function appends the result types to `results`, or reports what is
// wrong and fails. An inferred type has the element type of the first operand
// unless said otherwise, and its encoding if it also has its shape.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_DIALECT_SHAPES_SHAPES_H
#define TTMLIR_DIALECT_SHAPES_SHAPES_H

#include "ttmlir/Dialect/TTCore/IR/TTCore.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/ValueRange.h"

#include <optional>

namespace mlir::tt::shapes {

using Types = SmallVectorImpl<Type>;

/// Reports errors of an op that may not exist yet, the way an op's own
/// `emitOpError` does. Without a location nothing is reported.
class Reporter {
public:
  Reporter(std::optional<Location> location, StringRef op) : location(location), op(op) {}
  explicit Reporter(Operation *op) : location(op->getLoc()), op(op->getName().getStringRef()) {}

  template <class... Args> LogicalResult error(Args &&...args) const {
    return emitOptionalError(location, "'", op, "' op ", std::forward<Args>(args)...);
  }
  std::optional<Location> getLocation() const { return location; }

private:
  std::optional<Location> location;
  StringRef op;
};

//===----------------------------------------------------------------------===//
// What the generated callers need
//===----------------------------------------------------------------------===//

/// Signless attributes read as unsigned numbers; these are the numbers meant.
inline int64_t signedInt(uint64_t value) { return static_cast<int64_t>(value); }
inline int64_t signedInt(uint32_t value) { return static_cast<int32_t>(value); }
inline int64_t signedInt(int32_t value) { return value; }
inline int64_t signedInt(int64_t value) { return value; }
inline int64_t signedInt(int8_t value) { return value; }

/// `pattern` has a character per operand: 1, ? or * for one value, at most one,
/// any number. `segments` is how many values belong to each, if the op says so.
LogicalResult checkArity(const Reporter &report, StringRef pattern, size_t numOperands,
                         std::optional<ArrayRef<int32_t>> segments);

template <class ConcreteOp>
LogicalResult checkArity(const Reporter &report, StringRef pattern, ValueRange operands, OpaqueProperties properties) {
  if constexpr (ConcreteOp::template hasTrait<OpTrait::AttrSizedOperandSegments>()) {
    if (!properties)
      return report.error("has no attribute 'operandSegmentSizes'");
    return checkArity(report, pattern, operands.size(),
                      ArrayRef<int32_t>(properties.as<typename ConcreteOp::Properties *>()->operandSegmentSizes));
  } else {
    return checkArity(report, pattern, operands.size(), std::nullopt);
  }
}

/// The given properties with the defaults of attributes that were not given. An op that is being built has none of them
/// yet, and the adaptor's getters rely on them.
template <class ConcreteOp> class CompleteProperties {
public:
  CompleteProperties(MLIRContext *context, OpaqueProperties given) {
    if (given)
      properties = *given.as<Properties *>();
    ConcreteOp::populateDefaultProperties(OperationName(ConcreteOp::getOperationName(), context), properties);
  }
  operator OpaqueProperties() { return OpaqueProperties(&properties); }

private:
  using Properties = typename ConcreteOp::template InferredProperties<ConcreteOp>;
  Properties properties{};
};

/// Required attributes are there and every attribute is of its kind.
template <class Adaptor> LogicalResult checkAttributes(const Reporter &report, MLIRContext *context, Adaptor &op) {
  if (auto location = report.getLocation())
    return op.verify(*location);
  ScopedDiagnosticHandler silence(context, [](Diagnostic &) { return success(); });
  return op.verify(UnknownLoc::get(context));
}

/// Whether types are tensors or memrefs of pairwise the same shape.
bool haveSameShapes(TypeRange a, TypeRange b);
/// Whether the results of `op` have the shapes of the inferred types.
LogicalResult checkResults(Operation *op, TypeRange inferred);
bool haveSameElementWidth(Value a, Value b);

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

/// NumPy's broadcasting; the element type is that of operand `typeOperand`.
LogicalResult broadcast(const Reporter &report, ValueRange operands, Types &results, unsigned typeOperand = 0);
LogicalResult integerBroadcast(const Reporter &report, ValueRange operands, Types &results);
LogicalResult clamp(const Reporter &report, ValueRange operands, Attribute min, Attribute max, Types &results);
LogicalResult geluBackward(const Reporter &report, ValueRange operands, StringRef approximate, Types &results);

/// The type of the operand.
LogicalResult same(const Reporter &report, Value input, Types &results);
/// The type of the operand, which has a dimension `dimension`.
LogicalResult alongDimension(const Reporter &report, Value input, StringRef name, int64_t dimension, Types &results);

//===----------------------------------------------------------------------===//
// Reductions and orderings
//===----------------------------------------------------------------------===//

LogicalResult reduction(const Reporter &report, Value input, ArrayAttr dimensions, bool keepDim, Types &results);
/// As `reduction`, of at most one dimension; the result holds i32 positions.
LogicalResult argMax(const Reporter &report, Value input, ArrayAttr dimensions, bool keepDim, Types &results);
/// With the dimension as a number, or none for all.
LogicalResult reductionOfOne(const Reporter &report, Value input, StringRef name, std::optional<int64_t> dimension,
                             bool keepDim, bool positions, Types &results);
LogicalResult sort(const Reporter &report, Value input, int64_t dimension, Types &results);
LogicalResult topK(const Reporter &report, Value input, int64_t k, int64_t dimension, Types &results);

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

LogicalResult matmul(const Reporter &report, Value a, Value b, bool transposeA, bool transposeB, Types &results);
LogicalResult linear(const Reporter &report, Value a, Value b, Value bias, bool transposeA, bool transposeB,
                     Types &results);
LogicalResult dotGeneral(const Reporter &report, Value lhs, Value rhs, ArrayRef<int64_t> batchLhs,
                         ArrayRef<int64_t> contractLhs, ArrayRef<int64_t> batchRhs, ArrayRef<int64_t> contractRhs,
                         Types &results);

//===----------------------------------------------------------------------===//
// Data movement
//===----------------------------------------------------------------------===//

LogicalResult reshape(const Reporter &report, Value input, ArrayAttr shape, Types &results);
LogicalResult permute(const Reporter &report, Value input, ArrayRef<int64_t> permutation, Types &results);
LogicalResult transpose(const Reporter &report, Value input, int64_t dim0, int64_t dim1, Types &results);
LogicalResult concat(const Reporter &report, ValueRange inputs, int64_t dim, Types &results);
LogicalResult slice(const Reporter &report, Value input, ArrayAttr begins, ArrayAttr ends, ArrayAttr steps,
                    Types &results);
LogicalResult index(const Reporter &report, Value input, int64_t dim, int64_t begin, int64_t end, int64_t step,
                    Types &results);
LogicalResult indexSelect(const Reporter &report, Value input, int64_t dim, int64_t begin, int64_t length,
                          int64_t stride, Types &results);
LogicalResult broadcastTo(const Reporter &report, Value input, ArrayRef<int64_t> factors, Types &results);
LogicalResult repeat(const Reporter &report, Value input, StringRef name, ArrayRef<int64_t> factors, Types &results);
LogicalResult repeatInterleave(const Reporter &report, Value input, int64_t repeats, int64_t dim, Types &results);
LogicalResult reverse(const Reporter &report, Value input, ArrayRef<int64_t> dimensions, Types &results);
LogicalResult squeeze(const Reporter &report, Value input, int64_t dim, Types &results);
LogicalResult unsqueeze(const Reporter &report, Value input, int64_t dim, Types &results);
LogicalResult pad(const Reporter &report, Value input, ArrayRef<int32_t> padding, Types &results);
LogicalResult upsample(const Reporter &report, Value input, Attribute scale, StringRef mode, Types &results);
LogicalResult gather(const Reporter &report, Value input, Value index, int64_t dim, Types &results);
LogicalResult scatter(const Reporter &report, Value input, Value index, Value source, int64_t dim, Types &results);
LogicalResult embedding(const Reporter &report, Value input, Value weight, Types &results);
LogicalResult embeddingBackward(const Reporter &report, Value input, Value weight, Value gradient, Types &results);
LogicalResult dimensionSize(const Reporter &report, Value input, int64_t dimension, Types &results);
/// For results whose shape depends on `what`: fails, since a type must be given.
LogicalResult dynamic(const Reporter &report, StringRef what);
LogicalResult checkDynamicSlice(const Reporter &report, Value input, Value begins, Value ends, ArrayAttr steps,
                                Value result);
LogicalResult concatenateHeads(const Reporter &report, Value input, Types &results);
/// As `concatenateHeads`, of rank 4.
LogicalResult joinHeads(const Reporter &report, Value input, Types &results);

//===----------------------------------------------------------------------===//
// Creation
//===----------------------------------------------------------------------===//

LogicalResult filled(const Reporter &report, ArrayRef<int64_t> shape, Type elementType, Types &results);
LogicalResult filled(const Reporter &report, ArrayRef<int32_t> shape, Type elementType, Types &results);
LogicalResult filled(const Reporter &report, ArrayAttr shape, StringRef name, Type elementType, Types &results);
LogicalResult constant(const Reporter &report, ElementsAttr value, Types &results);
LogicalResult sequence(const Reporter &report, int64_t start, int64_t end, int64_t step, Type elementType,
                       Types &results);
/// As `sequence`, along the last of `dimension` + 1 dimensions.
LogicalResult sequenceAlong(const Reporter &report, int64_t start, int64_t end, int64_t step, int64_t dimension,
                            Type elementType, Types &results);
/// How many values a sequence has.
FailureOr<int64_t> sequenceLength(const Reporter &report, int64_t start, int64_t end, int64_t step);

//===----------------------------------------------------------------------===//
// Convolution and pooling
//===----------------------------------------------------------------------===//

/// The image shape of an input of shape 1 x 1 x (batch * height * width) x channels.
struct Flattened {
  int64_t batch, height, width;
};

template <class FlattenedAttr> std::optional<Flattened> flattened(FlattenedAttr attr) {
  if (!attr)
    return std::nullopt;
  return Flattened{attr.getBatchSize(), attr.getInputHeight(), attr.getInputWidth()};
}

/// Numbers or arrays of numbers, one per spatial dimension; null is the neutral
/// value. Padding may also give two numbers per dimension: all those before the
/// dimensions, then all those after.
struct ConvolutionConfig {
  Attribute stride, padding, dilation;
  int64_t groups;
};

struct Conv2dConfig {
  Attribute stride, padding, dilation;
  int64_t groups;
  struct {
    int64_t batch, height, width, channel;
  } dims;
  std::optional<Flattened> flattened;
};

struct Pool2dConfig {
  Attribute kernel, stride, padding, dilation;
  bool ceilMode;
  std::optional<Flattened> flattened;
};

LogicalResult convolution(const Reporter &report, Value input, Value weight, Value bias,
                          const ConvolutionConfig &config, int64_t batchDim, ArrayRef<int64_t> spatialDims,
                          int64_t channelDim, Types &results);
LogicalResult conv2d(const Reporter &report, Value input, Value weight, Value bias, const Conv2dConfig &config,
                     Types &results);
LogicalResult convTranspose2d(const Reporter &report, Value input, Value weight, Value bias, const Conv2dConfig &config,
                              Attribute outputPadding, Types &results);
LogicalResult pool2d(const Reporter &report, Value input, const Pool2dConfig &config, bool withIndices, Types &results);
LogicalResult globalPool2d(const Reporter &report, Value input, Types &results);

/// What TTNN's convolutions and pools say about themselves, sizes outermost first. Padding is one number for each
/// dimension, or those before and after each: [top, bottom, left, right].
struct WindowAttributes {
  int64_t batch;
  SmallVector<int64_t, 3> sizes;
  int64_t inChannels, outChannels;
  ArrayRef<int32_t> kernel, stride, padding, dilation, outputPadding = {};
  bool ceilMode = false, transposed = false;
};

/// The result of a flattened op, 1 x 1 x (batch * height * width) x channels; volumes are not flattened.
LogicalResult windowOfAttributes(const Reporter &report, Value input, const WindowAttributes &window, bool withIndices,
                                 Types &results);
/// As `windowOfAttributes`, with a weight as TTIR has it or prepared: 1 x 1 x rows x columns.
LogicalResult convolutionOfAttributes(const Reporter &report, Value input, Value weight, Value bias, int64_t groups,
                                      const WindowAttributes &window, Types &results);
/// Of volumes; a prepared weight is rows x columns.
LogicalResult convolution3dOfAttributes(const Reporter &report, Value input, Value weight, Value bias, int64_t groups,
                                        const WindowAttributes &window, StringRef paddingMode, Types &results);
LogicalResult prepareVolumes(const Reporter &report, Value weight, int64_t groups, int64_t block, int64_t alignment,
                             Types &results);

//===----------------------------------------------------------------------===//
// Normalization and attention
//===----------------------------------------------------------------------===//

struct NamedValue {
  StringRef name;
  Value value;
};

LogicalResult layerNorm(const Reporter &report, Value input, Value weight, Value bias, ArrayRef<int64_t> normalized,
                        Types &results);
LogicalResult layerNormLastDim(const Reporter &report, Value input, Value weight, Value bias, Types &results);
/// As `layerNormLastDim`, of input + residual.
LogicalResult residualNorm(const Reporter &report, Value input, Value weight, Value bias, Value residual,
                           Types &results);
/// Sums of the rows of input + residual: `count` tiles of 32 columns.
LogicalResult rowSums(const Reporter &report, Value input, Value residual, int64_t count, Types &results);
/// As `layerNormLastDim`, with two tiles of sums for each chip.
LogicalResult normOfSums(const Reporter &report, Value input, Value stats, Value weight, Value bias, Types &results);
LogicalResult groupNorm(const Reporter &report, Value input, Value weight, Value bias, int64_t groups,
                        int64_t channelDim, Types &results);
/// Parameters have one value per index of `dimension`; in training, types of the new running mean and variance follow.
LogicalResult batchNorm(const Reporter &report, Value input, ArrayRef<NamedValue> parameters, int64_t dimension,
                        bool training, Types &results);
/// TTNN's form: channels are dimension 1 of 4, parameters are 1 x C x 1 x 1 or C.
LogicalResult batchNormChannels(const Reporter &report, Value input, ArrayRef<NamedValue> parameters, Types &results);
LogicalResult attention(const Reporter &report, Value query, Value key, Value value, Value mask, Types &results);
/// Values are the first `valueSize` elements of the keys, or given with that size.
LogicalResult latentAttention(const Reporter &report, Value query, Value key, Value value, int64_t valueSize,
                              Types &results);
LogicalResult splitHeads(const Reporter &report, Value input, Value keyValue, int64_t heads,
                         std::optional<int64_t> keyValueHeads, bool transposeKey, Types &results);
/// Heads of one position per user: [1, users, heads, size].
LogicalResult joinDecodedHeads(const Reporter &report, Value input, int64_t heads, Types &results);
LogicalResult decodedHeads(const Reporter &report, Value input, Value batchOffset, int64_t heads,
                           std::optional<int64_t> keyValueHeads, std::optional<int64_t> sliceSize, Types &results);
LogicalResult checkPagedCache(const Reporter &report, Value cache, Value input);
LogicalResult checkCache(const Reporter &report, Value cache, Value input, int64_t batchOffset, bool onePosition);

//===----------------------------------------------------------------------===//
// Meshes
//===----------------------------------------------------------------------===//

LogicalResult meshShard(const Reporter &report, Value input, ttcore::MeshShardType type,
                        ttcore::MeshShardDirection direction, ArrayRef<int64_t> shardShape, ArrayRef<int64_t> shardDims,
                        Types &results);
/// The mesh is that of the module around the operand.
LogicalResult allGather(const Reporter &report, Value input, int64_t dim, int64_t clusterAxis, Types &results);
LogicalResult scatterOverMesh(const Reporter &report, Value input, StringRef name, int64_t dim,
                              std::optional<int64_t> clusterAxis, Types &results);
LogicalResult allToAll(const Reporter &report, Value input, int64_t splitDim, int64_t concatDim, int64_t splitCount,
                       DenseIntElementsAttr groups, Types &results);
LogicalResult collectivePermute(const Reporter &report, Value input, DenseIntElementsAttr pairs, Types &results);
LogicalResult collectiveBroadcast(const Reporter &report, Value input, DenseIntElementsAttr groups, Types &results);

/// A declared result: `larger` equals `smaller` but in dimension `dim`, where it is a multiple: that of the mesh's
/// axis, if the module names its mesh.
LogicalResult checkMeshMultiple(Operation *op, StringRef name, int64_t dim, std::optional<int64_t> clusterAxis,
                                Value smaller, Value larger);

} // namespace mlir::tt::shapes

#endif // TTMLIR_DIALECT_SHAPES_SHAPES_H
