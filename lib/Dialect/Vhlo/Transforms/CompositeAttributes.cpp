//===- CompositeAttributes.cpp - attributes of several VHLO attributes ------===//
// SPDX-License-Identifier: Apache-2.0

#include "CompositeAttributes.h"

#include "ttmlir/Dialect/StableHLO/IR/StableHLOOps.h"

#include "mlir/IR/Builders.h"
#include "llvm/ADT/TypeSwitch.h"

#include <variant>

using namespace mlir;
using namespace mlir::vhlo;

//===----------------------------------------------------------------------===//
// From parts
//===----------------------------------------------------------------------===//

namespace {
/// Takes the parts by name, and records whether one was missing or of another kind.
class Parts {
public:
  Parts(const OpRow &row, DictionaryAttr parts, Emit emitError) : row(row), parts(parts), emitError(emitError) {}

  template <class T> T get(StringRef name) {
    Attribute value = parts.get(name);
    Attribute converted = value ? toBuiltin(value, emitError) : Attribute();
    if (auto typed = dyn_cast_or_null<T>(converted))
      return typed;
    good = false;
    if (!value)
      emitError() << "has no attribute " << name;
    else if (converted)
      emitError() << "has the attribute " << name << " " << value << ", which is of another kind";
    return {};
  }
  int64_t number(StringRef name) {
    auto value = get<IntegerAttr>(name);
    if (value && value.getType().isSignlessInteger() && value.getType().getIntOrFloatBitWidth() <= 64)
      return value.getInt();
    if (value)
      emitError() << "has the attribute " << name << " " << value << "; expected a signless number";
    good = false;
    return 0;
  }
  bool flag(StringRef name) {
    auto value = get<BoolAttr>(name);
    return value && value.getValue();
  }
  Type type(StringRef name) {
    auto value = get<TypeAttr>(name);
    return value ? value.getValue() : Type();
  }
  SmallVector<int64_t> list(StringRef name) {
    auto value = get<DenseIntElementsAttr>(name);
    if (!value)
      return {};
    // Dimensions and windows: a splat may claim more elements than can be held.
    constexpr int64_t most = 1 << 16;
    if (value.getElementType().isSignlessInteger(64) && value.getNumElements() <= most)
      return llvm::to_vector(value.getValues<int64_t>());
    good = false;
    emitError() << "has the attribute " << name << " " << value << "; expected up to 65536 elements of i64";
    return {};
  }
  bool has(StringRef name) const { return row.find(name); }

  const OpRow &row;
  DictionaryAttr parts;
  Emit emitError;
  bool good = true;
};
} // namespace

static Attribute algorithm(Parts &parts, MLIRContext *context) {
  Type lhs = parts.type("lhs_precision_type"), rhs = parts.type("rhs_precision_type");
  Type accumulation = parts.type("accumulation_type");
  int64_t lhsCount = parts.number("lhs_component_count"), rhsCount = parts.number("rhs_component_count");
  int64_t operations = parts.number("num_primitive_operations");
  bool allowImprecise = parts.flag("allow_imprecise_accumulation");
  if (!parts.good)
    return {};
  return stablehlo::DotAlgorithmAttr::getChecked(parts.emitError, context, lhs, rhs, accumulation, lhsCount, rhsCount,
                                                 operations, allowImprecise);
}

static Attribute convolution(Parts &parts, MLIRContext *context) {
  int64_t numbers[6];
  for (auto [number, name] : llvm::zip_equal(
           numbers, std::initializer_list<StringRef>{
                        "input_batch_dimension", "input_feature_dimension", "kernel_input_feature_dimension",
                        "kernel_output_feature_dimension", "output_batch_dimension", "output_feature_dimension"}))
    number = parts.number(name);
  SmallVector<int64_t> input = parts.list("input_spatial_dimensions"), kernel = parts.list("kernel_spatial_dimensions"),
                       output = parts.list("output_spatial_dimensions");
  if (!parts.good)
    return {};
  return stablehlo::ConvDimensionNumbersAttr::getChecked(
      parts.emitError, context, numbers[0], numbers[1], ArrayRef<int64_t>(input), numbers[2], numbers[3],
      ArrayRef<int64_t>(kernel), numbers[4], numbers[5], ArrayRef<int64_t>(output));
}

FailureOr<Attribute> vhlo::assemble(const OpRow &row, StringRef whole, DictionaryAttr dictionary, Emit emitError) {
  MLIRContext *context = dictionary.getContext();
  Parts parts(row, dictionary, emitError);
  auto checked = [&](Attribute created) -> FailureOr<Attribute> {
    return parts.good && created ? FailureOr<Attribute>(created) : FailureOr<Attribute>();
  };
  if (whole == "channel_handle") {
    const Inherent &id = *row.find("channel_id");
    if (isDefault(id, dictionary.get(id.name)))
      return Attribute();
    int64_t handle = parts.number("channel_id"), type = parts.has("channel_type") ? parts.number("channel_type") : 0;
    return checked(stablehlo::ChannelHandleAttr::get(context, handle, type));
  }
  if (whole == "algorithm") {
    bool isNone = llvm::all_of(row.attributes, [&](const Inherent &each) {
      return each.whole != whole || isDefault(each, dictionary.get(each.name));
    });
    return isNone ? FailureOr<Attribute>(Attribute()) : checked(algorithm(parts, context));
  }
  if (whole == "dot_dimension_numbers") {
    SmallVector<int64_t> lhsBatching = parts.list("lhs_batching_dimensions"),
                         rhsBatching = parts.list("rhs_batching_dimensions"),
                         lhsContracting = parts.list("lhs_contracting_dimensions"),
                         rhsContracting = parts.list("rhs_contracting_dimensions");
    return checked(
        stablehlo::DotDimensionNumbersAttr::get(context, lhsBatching, rhsBatching, lhsContracting, rhsContracting));
  }
  if (whole == "scatter_dimension_numbers") {
    SmallVector<int64_t> update = parts.list("update_window_dims"), inserted = parts.list("inserted_window_dims"),
                         batching = parts.list("input_batching_dims"),
                         indices = parts.list("scatter_indices_batching_dims"),
                         dims = parts.list("scatter_dims_to_operand_dims");
    return checked(stablehlo::ScatterDimensionNumbersAttr::get(context, update, inserted, batching, indices, dims,
                                                               parts.number("index_vector_dim")));
  }
  if (parts.has("input_batch_dimension"))
    return checked(convolution(parts, context));
  SmallVector<int64_t> offset = parts.list("offset_dims"), collapsed = parts.list("collapsed_slice_dims"),
                       batching = parts.list("operand_batching_dims"),
                       indices = parts.list("start_indices_batching_dims"), map = parts.list("start_index_map");
  return checked(stablehlo::GatherDimensionNumbersAttr::get(context, offset, collapsed, batching, indices, map,
                                                            parts.number("index_vector_dim")));
}

//===----------------------------------------------------------------------===//
// To parts
//===----------------------------------------------------------------------===//

namespace {
/// A part by its name: numbers, or lists of them.
struct Named {
  StringRef name;
  std::variant<int64_t, ArrayRef<int64_t>, Type, bool> value;
};
} // namespace

static Attribute pick(MLIRContext *context, StringRef part, ArrayRef<Named> parts) {
  const auto *found = llvm::find_if(parts, [&](const Named &each) { return each.name == part; });
  if (found == parts.end())
    return {};
  if (const auto *number = std::get_if<int64_t>(&found->value))
    return makeInteger(context, *number);
  if (const auto *list = std::get_if<ArrayRef<int64_t>>(&found->value))
    return makeTensor(context, *list);
  if (const auto *type = std::get_if<Type>(&found->value))
    return toVhlo(TypeAttr::get(*type), /*allowOthers=*/false);
  return makeBool(context, std::get<bool>(found->value));
}

Attribute vhlo::partOfWhole(Attribute whole, StringRef part) {
  MLIRContext *context = whole.getContext();
  return TypeSwitch<Attribute, Attribute>(whole)
      .Case([&](stablehlo::ChannelHandleAttr attribute) {
        return pick(context, part, {{"channel_id", attribute.getHandle()}, {"channel_type", attribute.getType()}});
      })
      .Case([&](stablehlo::DotAlgorithmAttr attribute) {
        return pick(context, part,
                    {{"lhs_precision_type", attribute.getLhsPrecisionType()},
                     {"rhs_precision_type", attribute.getRhsPrecisionType()},
                     {"accumulation_type", attribute.getAccumulationType()},
                     {"lhs_component_count", attribute.getLhsComponentCount()},
                     {"rhs_component_count", attribute.getRhsComponentCount()},
                     {"num_primitive_operations", attribute.getNumPrimitiveOperations()},
                     {"allow_imprecise_accumulation", attribute.getAllowImpreciseAccumulation()}});
      })
      .Case([&](stablehlo::DotDimensionNumbersAttr attribute) {
        return pick(context, part,
                    {{"lhs_batching_dimensions", attribute.getLhsBatchingDimensions()},
                     {"rhs_batching_dimensions", attribute.getRhsBatchingDimensions()},
                     {"lhs_contracting_dimensions", attribute.getLhsContractingDimensions()},
                     {"rhs_contracting_dimensions", attribute.getRhsContractingDimensions()}});
      })
      .Case([&](stablehlo::ConvDimensionNumbersAttr attribute) {
        return pick(context, part,
                    {{"input_batch_dimension", attribute.getInputBatchDimension()},
                     {"input_feature_dimension", attribute.getInputFeatureDimension()},
                     {"input_spatial_dimensions", attribute.getInputSpatialDimensions()},
                     {"kernel_input_feature_dimension", attribute.getKernelInputFeatureDimension()},
                     {"kernel_output_feature_dimension", attribute.getKernelOutputFeatureDimension()},
                     {"kernel_spatial_dimensions", attribute.getKernelSpatialDimensions()},
                     {"output_batch_dimension", attribute.getOutputBatchDimension()},
                     {"output_feature_dimension", attribute.getOutputFeatureDimension()},
                     {"output_spatial_dimensions", attribute.getOutputSpatialDimensions()}});
      })
      .Case([&](stablehlo::GatherDimensionNumbersAttr attribute) {
        return pick(context, part,
                    {{"offset_dims", attribute.getOffsetDims()},
                     {"collapsed_slice_dims", attribute.getCollapsedSliceDims()},
                     {"operand_batching_dims", attribute.getOperandBatchingDims()},
                     {"start_indices_batching_dims", attribute.getStartIndicesBatchingDims()},
                     {"start_index_map", attribute.getStartIndexMap()},
                     {"index_vector_dim", attribute.getIndexVectorDim()}});
      })
      .Case([&](stablehlo::ScatterDimensionNumbersAttr attribute) {
        return pick(context, part,
                    {{"update_window_dims", attribute.getUpdateWindowDims()},
                     {"inserted_window_dims", attribute.getInsertedWindowDims()},
                     {"input_batching_dims", attribute.getInputBatchingDims()},
                     {"scatter_indices_batching_dims", attribute.getScatterIndicesBatchingDims()},
                     {"scatter_dims_to_operand_dims", attribute.getScatterDimsToOperandDims()},
                     {"index_vector_dim", attribute.getIndexVectorDim()}});
      })
      .Default(Attribute());
}
