//===- Bytecode.cpp - StableHLO attributes and types in bytecode ----------===//
// SPDX-License-Identifier: Apache-2.0
//
// As other builds of StableHLO write a module in their own dialect, without a promise of stability. Files that stay
// readable are those of VHLO.

#include "Bytecode.h"

#include "ttmlir/Dialect/DataBytecode.h"
#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

using namespace mlir;
using namespace mlir::bytecode;
using namespace mlir::stablehlo;

template <class E> using Symbolize = std::optional<E> (*)(uint32_t);

namespace {
/// A part of an axis: a flag, and the part if it is set.
struct FlaggedSubAxis {
  using Store = SubAxisInfoAttr;
  static LogicalResult read(DialectBytecodeReader &reader, std::optional<Store> &into) {
    bool isThere = false;
    into = Store();
    return failure(failed(reader.readBool(isThere)) || (isThere && failed(reader.readAttribute(*into))));
  }
  static void write(AxisRefAttr axis, DialectBytecodeWriter &writer) {
    SubAxisInfoAttr info = axis.getSubAxisInfo();
    writer.writeOwnedBool(static_cast<bool>(info));
    if (info)
      writer.writeAttribute(info);
  }
};
} // namespace

/// An attribute of other builds that no op of this dialect takes.
template <bool isAxis> static constexpr Row<Attribute> unknownRow(uint64_t code) {
  return {code,
          [](DialectBytecodeReader &reader) -> Attribute {
            reader.emitError() << "#stablehlo.mesh" << (isAxis ? "_axis" : "")
                               << " is an attribute that this version of StableHLO has not";
            return {};
          },
          [](Attribute, uint64_t, DialectBytecodeWriter &) { return false; }};
}

static constexpr Row<Attribute> attributeRows[] = {
    attributeRow<&ChannelHandleAttr::getHandle, &ChannelHandleAttr::getType>(1),
    enumRow<ComparisonDirectionAttr, Symbolize<ComparisonDirection>(symbolizeComparisonDirection)>(2),
    enumRow<ComparisonTypeAttr, Symbolize<ComparisonType>(symbolizeComparisonType)>(3),
    attributeRow<
        &ConvDimensionNumbersAttr::getInputBatchDimension, &ConvDimensionNumbersAttr::getInputFeatureDimension,
        &ConvDimensionNumbersAttr::getInputSpatialDimensions, &ConvDimensionNumbersAttr::getKernelInputFeatureDimension,
        &ConvDimensionNumbersAttr::getKernelOutputFeatureDimension,
        &ConvDimensionNumbersAttr::getKernelSpatialDimensions, &ConvDimensionNumbersAttr::getOutputBatchDimension,
        &ConvDimensionNumbersAttr::getOutputFeatureDimension, &ConvDimensionNumbersAttr::getOutputSpatialDimensions>(4),
    attributeRow<&DotDimensionNumbersAttr::getLhsBatchingDimensions, &DotDimensionNumbersAttr::getRhsBatchingDimensions,
                 &DotDimensionNumbersAttr::getLhsContractingDimensions,
                 &DotDimensionNumbersAttr::getRhsContractingDimensions>(5),
    enumRow<FftTypeAttr, Symbolize<FftType>(symbolizeFftType)>(6),
    attributeRow<&GatherDimensionNumbersAttr::getOffsetDims, &GatherDimensionNumbersAttr::getCollapsedSliceDims,
                 &GatherDimensionNumbersAttr::getOperandBatchingDims,
                 &GatherDimensionNumbersAttr::getStartIndicesBatchingDims,
                 &GatherDimensionNumbersAttr::getStartIndexMap, &GatherDimensionNumbersAttr::getIndexVectorDim>(7),
    enumRow<PrecisionAttr, Symbolize<Precision>(symbolizePrecision)>(8),
    enumRow<RngAlgorithmAttr, Symbolize<RngAlgorithm>(symbolizeRngAlgorithm)>(9),
    enumRow<RngDistributionAttr, Symbolize<RngDistribution>(symbolizeRngDistribution)>(10),
    attributeRow<
        &ScatterDimensionNumbersAttr::getUpdateWindowDims, &ScatterDimensionNumbersAttr::getInsertedWindowDims,
        &ScatterDimensionNumbersAttr::getInputBatchingDims, &ScatterDimensionNumbersAttr::getScatterIndicesBatchingDims,
        &ScatterDimensionNumbersAttr::getScatterDimsToOperandDims, &ScatterDimensionNumbersAttr::getIndexVectorDim>(11),
    enumRow<TransposeAttr, Symbolize<Transpose>(symbolizeTranspose)>(12),
    attributeRow<&TypeExtensionsAttr::getBounds>(13),
    attributeRow<&OutputOperandAliasAttr::getOutputTupleIndices, &OutputOperandAliasAttr::getOperandIndex,
                 &OutputOperandAliasAttr::getOperandTupleIndices>(14),
    attributeRow<&DotAlgorithmAttr::getLhsPrecisionType, &DotAlgorithmAttr::getRhsPrecisionType,
                 &DotAlgorithmAttr::getAccumulationType, &DotAlgorithmAttr::getLhsComponentCount,
                 &DotAlgorithmAttr::getRhsComponentCount, &DotAlgorithmAttr::getNumPrimitiveOperations,
                 &DotAlgorithmAttr::getAllowImpreciseAccumulation>(15),
    enumRow<ResultAccuracyModeAttr, Symbolize<ResultAccuracyMode>(symbolizeResultAccuracyMode)>(16),
    attributeRow<&ResultAccuracyAttr::getAtol, &ResultAccuracyAttr::getRtol, &ResultAccuracyAttr::getUlps,
                 &ResultAccuracyAttr::getMode>(17),
    attributeRow<&ReplicaGroupMeshAxesAttr::getMesh, &ReplicaGroupMeshAxesAttr::getAxes>(18),
    attributeRow<&SubAxisInfoAttr::getPreSize, &SubAxisInfoAttr::getSize>(19),
    row<Attribute, AxisRefAttr, Parameter<&AxisRefAttr::getName>, FlaggedSubAxis>(20),
    unknownRow</*isAxis=*/true>(21),
    unknownRow</*isAxis=*/false>(22),
};

static constexpr Row<Type> typeRows[] = {
    row<Type, TokenType>(0),
    row<Type, FutureType, Parameter<&FutureType::getTypes>>(1),
};

std::unique_ptr<DialectInterface> stablehlo::makeBytecode(Dialect *dialect) {
  return std::make_unique<Interface>(dialect, attributeRows, typeRows);
}
