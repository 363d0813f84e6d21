//===- AttributeWriter.cpp - attributes of ops in a flatbuffer ------------===//

#include "AttributeWriter.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;
namespace fb = ::tt::target;

using AttributeOffset = flatbuffers::Offset<fb::Attribute>;
using EmitError = function_ref<InFlightDiagnostic()>;

//===----------------------------------------------------------------------===//
// Names of enums and fields of structs
//===----------------------------------------------------------------------===//

// The name under which a binary knows an enum.
template <class Enum> static constexpr StringRef enumName = "";
template <> constexpr StringRef enumName<ttcore::Arch> = "ttcore.arch";
template <> constexpr StringRef enumName<ttcore::AttentionMaskType> = "ttcore.attention_mask_type";
template <> constexpr StringRef enumName<ttcore::DataType> = "ttcore.data_type";
template <> constexpr StringRef enumName<ttcore::MoEActivationFunction> = "ttcore.moe_activation_function";
template <> constexpr StringRef enumName<ttcore::ReduceType> = "ttcore.reduce_type";
template <> constexpr StringRef enumName<ttcore::Topology> = "ttcore.topology";
template <> constexpr StringRef enumName<BufferType> = "ttnn.buffer_type";
template <> constexpr StringRef enumName<Conv2dSliceType> = "ttnn.conv2d_slice_type";
template <> constexpr StringRef enumName<Layout> = "ttnn.layout";
template <> constexpr StringRef enumName<MathFidelity> = "ttnn.math_fidelity";
template <> constexpr StringRef enumName<PlacementType> = "ttnn.placement_type";
template <> constexpr StringRef enumName<ShardDistributionStrategy> = "ttnn.shard_distribution_strategy";
template <> constexpr StringRef enumName<ShardOrientation> = "ttnn.shard_orientation";
template <> constexpr StringRef enumName<TensorMemoryLayout> = "ttnn.tensor_memory_layout";
template <> constexpr StringRef enumName<UnaryOpType> = "ttnn.unary_op_type";

/// Attributes that hold one enum value.
template <class Visit> static bool visitEnum(Attribute attr, Visit visit) {
  auto visitAny = [&]<class... Attrs>() {
    return ((isa<Attrs>(attr) && (visit(cast<Attrs>(attr).getValue()), true)) || ...);
  };
  return visitAny.template
  operator()<ttcore::ArchAttr, ttcore::AttentionMaskTypeAttr, ttcore::DataTypeAttr, ttcore::MoEActivationFunctionAttr,
             ttcore::ReduceTypeAttr, ttcore::TopologyAttr, BufferTypeAttr, LayoutAttr, ShardDistributionStrategyAttr,
             ShardOrientationAttr, TensorMemoryLayoutAttr>();
}

namespace {
/// Calls `visit(name, value)` for every parameter of a structured attribute;
/// false if it is none.
template <class Visit> class StructVisitor {
public:
  StructVisitor(Attribute attr, Visit visit) : attr(attr), visit(visit) {}

  bool run() {
    return fields<Conv2dConfigAttr>([&](auto a) {
             visit("weights_dtype", a.getWeightsDtype());
             visit("activation", a.getActivation());
             visit("deallocate_activation", a.getDeallocateActivation());
             visit("reallocate_halo_output", a.getReallocateHaloOutput());
             visit("act_block_h_override", a.getActBlockHOverride());
             visit("act_block_w_div", a.getActBlockWDiv());
             visit("reshard_if_not_optimal", a.getReshardIfNotOptimal());
             visit("override_sharding_config", a.getOverrideShardingConfig());
             visit("shard_layout", a.getShardLayout());
             visit("core_grid", a.getCoreGrid());
             visit("transpose_shards", a.getTransposeShards());
             visit("output_layout", a.getOutputLayout());
             visit("enable_act_double_buffer", a.getEnableActDoubleBuffer());
             visit("enable_weights_double_buffer", a.getEnableWeightsDoubleBuffer());
             visit("enable_kernel_stride_folding", a.getEnableKernelStrideFolding());
             visit("config_tensors_in_dram", a.getConfigTensorsInDram());
           }) ||
           fields<Conv2dSliceConfigAttr>([&](auto a) {
             visit("slice_type", a.getSliceType());
             visit("num_slices", a.getNumSlices());
           }) ||
           fields<Conv3dConfigAttr>([&](auto a) {
             visit("weights_dtype", a.getWeightsDtype());
             visit("t_out_block", a.getTOutBlock());
             visit("w_out_block", a.getWOutBlock());
             visit("h_out_block", a.getHOutBlock());
             visit("c_out_block", a.getCOutBlock());
             visit("c_in_block", a.getCInBlock());
           }) ||
           fields<CoreCoordAttr>([&](auto a) {
             visit("x", a.getX());
             visit("y", a.getY());
           }) ||
           fields<CoreRangeAttr>([&](auto a) {
             visit("start_coord", a.getStartCoord());
             visit("end_coord", a.getEndCoord());
           }) ||
           fields<CoreRangeSetAttr>([&](auto a) { visit("core_ranges", a.getCoreRanges()); }) ||
           fields<DeviceComputeKernelConfigAttr>([&](auto a) {
             visit("math_fidelity", a.getMathFidelity());
             visit("math_approx_mode", a.getMathApproxMode());
             visit("fp32_dest_acc_en", a.getFp32DestAccEn());
             visit("packer_l1_acc", a.getPackerL1Acc());
             visit("dst_full_sync_en", a.getDstFullSyncEn());
           }) ||
           fields<LayerNormShardedMultiCoreProgramConfigAttr>([&](auto a) {
             visit("compute_with_storage_grid_size", a.getComputeWithStorageGridSize());
             visit("subblock_w", a.getSubblockW());
             visit("block_h", a.getBlockH());
             visit("block_w", a.getBlockW());
             visit("inplace", a.getInplace());
           }) ||
           fields<MatmulMultiCoreReuseProgramConfigAttr>([&](auto a) {
             visitMatmulBlocks(a);
             visit("per_core_m", a.getPerCoreM());
             visit("per_core_n", a.getPerCoreN());
           }) ||
           fields<MatmulMultiCoreReuseMultiCastProgramConfigAttr>([&](auto a) {
             visitMatmulMultiCast(a);
             visit("transpose_mcast", a.getTransposeMcast());
             visit("fused_activation", a.getFusedActivation());
             visit("fuse_batch", a.getFuseBatch());
           }) ||
           fields<MatmulMultiCoreReuseMultiCast1DProgramConfigAttr>([&](auto a) {
             visitMatmulMultiCast(a);
             visit("fuse_batch", a.getFuseBatch());
             visit("fused_activation", a.getFusedActivation());
             visit("mcast_in0", a.getMcastIn0());
             visit("gather_in0", a.getGatherIn0());
             visit("hop_cores", a.getHopCores());
             visit("num_global_cb_receivers", a.getNumGlobalCbReceivers());
             visit("untilize_out", a.getUntilizeOut());
           }) ||
           fields<MatmulMultiCoreReuseMultiCastDRAMShardedProgramConfigAttr>([&](auto a) {
             visit("in0_block_w", a.getIn0BlockW());
             visit("per_core_m", a.getPerCoreM());
             visit("per_core_n", a.getPerCoreN());
             visit("fused_activation", a.getFusedActivation());
           }) ||
           fields<MemoryConfigAttr>([&](auto a) {
             visit("tensor_memory_layout", a.getTensorMemoryLayout());
             visit("buffer_type", a.getBufferType());
             visit("shard_spec", a.getShardSpec());
             visit("nd_shard_spec", a.getNdShardSpec());
           }) ||
           fields<MeshComposerConfigAttr>([&](auto a) {
             visit("dims", a.getDims());
             visit("mesh_shape_override", a.getMeshShapeOverride());
           }) ||
           fields<MeshMapperConfigAttr>([&](auto a) {
             visit("placements", a.getPlacements());
             visit("mesh_shape_override", a.getMeshShapeOverride());
           }) ||
           fields<MeshOffsetAttr>([&](auto a) {
             visit("y", a.getY());
             visit("x", a.getX());
           }) ||
           fields<MeshShapeAttr>([&](auto a) {
             visit("y", a.getY());
             visit("x", a.getX());
           }) ||
           fields<NDShardSpecAttr>([&](auto a) {
             visit("core_range_set", a.getCoreRangeSet());
             visit("shape", a.getShape());
             visit("shard_orientation", a.getShardOrientation());
             visit("shard_distribution_strategy", a.getShardDistributionStrategy());
           }) ||
           fields<PlacementAttr>([&](auto a) {
             visit("type", a.getType());
             visit("dim", a.getDim());
           }) ||
           fields<SDPAProgramConfigAttr>([&](auto a) {
             visit("compute_with_storage_grid_size", a.getComputeWithStorageGridSize());
             visit("sub_core_grids", a.getSubCoreGrids());
             visit("q_chunk_size", a.getQChunkSize());
             visit("k_chunk_size", a.getKChunkSize());
             visit("exp_approx_mode", a.getExpApproxMode());
             visit("max_cores_per_head_batch", a.getMaxCoresPerHeadBatch());
           }) ||
           fields<ShardSpecAttr>([&](auto a) {
             visit("core_range_set", a.getCoreRangeSet());
             visit("shape", a.getShape());
             visit("shard_orientation", a.getShardOrientation());
           }) ||
           fields<UnaryWithParamAttr>([&](auto a) {
             visit("op_type", a.getOpType());
             visit("params", a.getParams());
           });
  }

private:
  template <class Attr, class Fields> bool fields(Fields list) {
    auto typed = dyn_cast<Attr>(attr);
    if (typed)
      list(typed);
    return bool(typed);
  }
  template <class Attr> void visitMatmulBlocks(Attr a) {
    visit("compute_with_storage_grid_size", a.getComputeWithStorageGridSize());
    visit("in0_block_w", a.getIn0BlockW());
    visit("out_subblock_h", a.getOutSubblockH());
    visit("out_subblock_w", a.getOutSubblockW());
  }
  template <class Attr> void visitMatmulMultiCast(Attr a) {
    visitMatmulBlocks(a);
    visit("out_block_h", a.getOutBlockH());
    visit("out_block_w", a.getOutBlockW());
    visit("per_core_m", a.getPerCoreM());
    visit("per_core_n", a.getPerCoreN());
  }

  Attribute attr;
  Visit visit;
};
} // namespace

static StringRef nameOf(Attribute attr) { return attr.getAbstractAttribute().getName(); }

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {
/// One attribute of one op.
class Writer {
public:
  Writer(flatbuffers::FlatBufferBuilder &builder, ConstantWriter &constants, std::optional<ttcore::DataType> dataType,
         EmitError emitError)
      : builder(builder), constants(constants), dataType(dataType), emitError(emitError) {}

  FailureOr<AttributeOffset> write(StringRef name, Attribute attr);

private:
  template <class Value>
  AttributeOffset entry(StringRef name, fb::AttributeValue type, flatbuffers::Offset<Value> value) {
    return fb::CreateAttribute(builder, string(name), type, value.Union());
  }
  flatbuffers::Offset<flatbuffers::String> string(StringRef text) {
    return builder.CreateString(text.data(), text.size());
  }

  AttributeOffset boolean(StringRef name, bool value) {
    return entry(name, fb::AttributeValue::BoolValue, fb::CreateBoolValue(builder, value));
  }
  AttributeOffset integer(StringRef name, int64_t value) {
    return entry(name, fb::AttributeValue::IntValue, fb::CreateIntValue(builder, value));
  }
  AttributeOffset integers(StringRef name, const std::vector<int64_t> &values) {
    return entry(name, fb::AttributeValue::IntArrayValue,
                 fb::CreateIntArrayValue(builder, builder.CreateVector(values)));
  }
  AttributeOffset floats(StringRef name, const std::vector<double> &values) {
    return entry(name, fb::AttributeValue::FloatArrayValue,
                 fb::CreateFloatArrayValue(builder, builder.CreateVector(values)));
  }
  template <class Enum> AttributeOffset enumeration(StringRef name, Enum value) {
    static_assert(!enumName<Enum>.empty());
    auto text =
        fb::CreateEnumValue(builder, string(enumName<Enum>), string(stringifyEnum(value)), static_cast<int64_t>(value));
    return entry(name, fb::AttributeValue::EnumValue, text);
  }
  FailureOr<AttributeOffset> list(StringRef name, ArrayRef<Attribute> items);
  FailureOr<AttributeOffset> constant(StringRef name, ElementsAttr elements);
  FailureOr<AttributeOffset> structure(StringRef name, Attribute attr);
  /// One parameter of a structured attribute, onto `out` unless it is absent.
  template <class T> LogicalResult parameter(StringRef name, const T &value, std::vector<AttributeOffset> &out);

  flatbuffers::FlatBufferBuilder &builder;
  ConstantWriter &constants;
  std::optional<ttcore::DataType> dataType;
  EmitError emitError;
};
} // namespace

static int64_t valueOf(IntegerAttr attr) {
  return attr.getType().isUnsignedInteger() ? static_cast<int64_t>(attr.getValue().getZExtValue())
                                            : attr.getValue().getSExtValue();
}

template <class Array> static std::vector<int64_t> widened(Array array) {
  return std::vector<int64_t>(array.asArrayRef().begin(), array.asArrayRef().end());
}

FailureOr<AttributeOffset> Writer::write(StringRef name, Attribute attr) {
  if (auto value = dyn_cast<BoolAttr>(attr))
    return boolean(name, value.getValue());
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return integer(name, valueOf(value));
  if (auto value = dyn_cast<FloatAttr>(attr))
    return entry(name, fb::AttributeValue::FloatValue, fb::CreateFloatValue(builder, value.getValueAsDouble()));
  if (auto value = dyn_cast<StringAttr>(attr))
    return entry(name, fb::AttributeValue::StringValue, fb::CreateStringValue(builder, string(value)));
  if (auto value = dyn_cast<SymbolRefAttr>(attr))
    return entry(name, fb::AttributeValue::StringValue,
                 fb::CreateStringValue(builder, string(value.getLeafReference())));
  if (auto value = dyn_cast<DenseI32ArrayAttr>(attr))
    return integers(name, widened(value));
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attr))
    return integers(name, widened(value));
  if (auto value = dyn_cast<ShapeAttr>(attr))
    return integers(name, std::vector<int64_t>(value.getShape().begin(), value.getShape().end()));
  if (auto value = dyn_cast<ArrayAttr>(attr))
    return list(name, value.getValue());
  if (auto value = dyn_cast<ElementsAttr>(attr))
    return constant(name, value);
  std::optional<AttributeOffset> written;
  if (visitEnum(attr, [&](auto value) { written = enumeration(name, value); }))
    return *written;
  return structure(name, attr);
}

/// Arrays of numbers are stored as such.
FailureOr<AttributeOffset> Writer::list(StringRef name, ArrayRef<Attribute> items) {
  if (llvm::all_of(items, llvm::IsaPred<IntegerAttr>)) {
    std::vector<int64_t> values;
    for (Attribute item : items)
      values.push_back(valueOf(cast<IntegerAttr>(item)));
    return integers(name, values);
  }
  if (llvm::all_of(items, llvm::IsaPred<FloatAttr>)) {
    std::vector<double> values;
    for (Attribute item : items)
      values.push_back(cast<FloatAttr>(item).getValueAsDouble());
    return floats(name, values);
  }
  std::vector<AttributeOffset> entries;
  for (Attribute item : items) {
    FailureOr<AttributeOffset> written = write("", item);
    if (failed(written))
      return failure();
    entries.push_back(*written);
  }
  return entry(name, fb::AttributeValue::ListValue, fb::CreateListValue(builder, builder.CreateVector(entries)));
}

FailureOr<AttributeOffset> Writer::constant(StringRef name, ElementsAttr elements) {
  std::optional<ttcore::DataType> stored =
      dataType ? dataType : ttcore::elementTypeToDataType(elements.getElementType());
  if (!stored)
    return emitError() << "attribute '" << name << "' has elements of type " << elements.getElementType()
                       << ", which no data format holds";
  FailureOr<uint32_t> index = constants.add(elements, *stored, emitError);
  if (failed(index))
    return failure();
  return entry(name, fb::AttributeValue::ConstantValue, fb::CreateConstantValue(builder, *index));
}

FailureOr<AttributeOffset> Writer::structure(StringRef name, Attribute attr) {
  std::vector<AttributeOffset> fields;
  LogicalResult result = success();
  auto visit = [&](StringRef field, const auto &value) {
    if (failed(parameter(field, value, fields)))
      result = failure();
  };
  StructVisitor visitor(attr, visit);
  if (!visitor.run())
    return emitError() << "attribute '" << name << "' is " << attr << ", which a flatbuffer cannot hold";
  if (failed(result))
    return failure();
  return entry(name, fb::AttributeValue::StructValue,
               fb::CreateStructValue(builder, string(nameOf(attr)), builder.CreateVector(fields)));
}

namespace {
template <class T> struct IsOptional : std::false_type {};
template <class T> struct IsOptional<std::optional<T>> : std::true_type {};
template <class T> struct IsArray : std::false_type {};
template <class T> struct IsArray<ArrayRef<T>> : std::true_type {};
} // namespace

template <class T> LogicalResult Writer::parameter(StringRef name, const T &value, std::vector<AttributeOffset> &out) {
  if constexpr (IsOptional<T>::value) {
    return value ? parameter(name, *value, out) : success();
  } else if constexpr (IsArray<T>::value) {
    if (value.empty())
      return success();
    FailureOr<AttributeOffset> written = list(name, SmallVector<Attribute>(value.begin(), value.end()));
    if (succeeded(written))
      out.push_back(*written);
    return written;
  } else if constexpr (std::is_base_of_v<Attribute, T>) {
    if (!value)
      return success();
    FailureOr<AttributeOffset> written = write(name, value);
    if (succeeded(written))
      out.push_back(*written);
    return written;
  } else {
    if constexpr (std::is_same_v<T, bool>)
      out.push_back(boolean(name, value));
    else if constexpr (std::is_enum_v<T>)
      out.push_back(enumeration(name, value));
    else
      out.push_back(integer(name, static_cast<int64_t>(value)));
    return success();
  }
}

FailureOr<AttributeOffset> AttributeWriter::write(StringRef name, Attribute attr,
                                                  std::optional<ttcore::DataType> dataType, EmitError emitError) {
  return Writer(builder, constants, dataType, emitError).write(name, attr);
}
