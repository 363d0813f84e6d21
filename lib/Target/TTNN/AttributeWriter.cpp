//===- AttributeWriter.cpp - serialization of op attributes ---------------===//
// SPDX-License-Identifier: Apache-2.0

#include "AttributeWriter.h"

#include "ttmlir/Dialect/TTNN/IR/TTNN.h"
#include "ttmlir/Target/TTNN/AttributeVisitor.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;
namespace fb = ::tt::target;

using AttributeOffset = flatbuffers::Offset<fb::Attribute>;
using EmitError = function_ref<InFlightDiagnostic()>;

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
  /// Adds one parameter of a structured attribute to `out` unless it is absent.
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

/// Flatbuffers omit fields that compare equal to their default, as -0 does.
static flatbuffers::Offset<fb::FloatValue> writeReal(flatbuffers::FlatBufferBuilder &builder, double value) {
  builder.ForceDefaults(std::signbit(value));
  auto created = fb::CreateFloatValue(builder, value);
  builder.ForceDefaults(false);
  return created;
}

FailureOr<AttributeOffset> Writer::write(StringRef name, Attribute attr) {
  if (auto value = dyn_cast<BoolAttr>(attr))
    return boolean(name, value.getValue());
  if (auto value = dyn_cast<IntegerAttr>(attr))
    return integer(name, valueOf(value));
  if (auto value = dyn_cast<FloatAttr>(attr))
    return entry(name, fb::AttributeValue::FloatValue, writeReal(builder, value.getValueAsDouble()));
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

/// Rectangles of cores: x and y of the first and the last core of each.
static DenseI64ArrayAttr cornersOf(CoreRangeSetAttr cores) {
  SmallVector<int64_t> corners;
  for (CoreRangeAttr range : cores.getCoreRanges())
    for (CoreCoordAttr core : {range.getStartCoord(), range.getEndCoord()})
      corners.append({static_cast<int64_t>(core.getX()), static_cast<int64_t>(core.getY())});
  return DenseI64ArrayAttr::get(cores.getContext(), corners);
}

/// Calls `visit(name, value)` for every field of what a ttnn.generic runs; false for anything else, as kernels that are
/// named by symbol.
template <class Visit> static bool visitProgramFields(Attribute attr, Visit visit) {
  auto arguments = [&](auto kernel) {
    visit("core_ranges", cornersOf(kernel.getCoreRanges()));
    visit("ct_args", kernel.getCtArgs());
    visit("common_rt_args", kernel.getCommonRtArgs());
    visit("rt_args", kernel.getRtArgs());
  };
  return TypeSwitch<Attribute, bool>(attr)
      .Case([&](ProgramAttr program) {
        visit("kernels", program.getKernels());
        visit("cbs", program.getCbs());
        visit("semaphores", program.getSemaphores());
        return true;
      })
      .template Case<SourceReadKernelAttr, SourceWriteKernelAttr>([&](auto kernel) {
        visit("source", kernel.getSource());
        arguments(kernel);
        return true;
      })
      .Case([&](SourceComputeKernelAttr kernel) {
        visit("source", kernel.getSource());
        visit("math_fidelity", static_cast<int64_t>(kernel.getMathFidelity()));
        visit("fp32_dest_acc_en", kernel.getFp32DestAccEn());
        visit("dst_full_sync_en", kernel.getDstFullSyncEn());
        visit("bfp8_pack_precise", kernel.getBfp8PackPrecise());
        visit("math_approx_mode", kernel.getMathApproxMode());
        SmallVector<int64_t> modes;
        for (ComputeKernelUnpackToDestMode mode : kernel.getUnpackToDestModes())
          modes.push_back(static_cast<int64_t>(mode));
        visit("unpack_to_dest_modes", DenseI64ArrayAttr::get(kernel.getContext(), modes));
        arguments(kernel);
        return true;
      })
      .Case([&](KernelCBAttr buffer) {
        visit("total_size", buffer.getTotalSize());
        visit("core_ranges", cornersOf(buffer.getCoreRanges()));
        visit("formats", buffer.getFormats());
        if (buffer.getBuffer())
          visit("buffer_of", buffer.getBuffer().getTensorOperandIndex());
        return true;
      })
      .Case([&](KernelCBFormatAttr format) {
        visit("buffer_index", format.getBufferIndex());
        visit("dtype", static_cast<int64_t>(format.getDtype()));
        visit("page_size", format.getPageSize());
        return true;
      })
      .Case([&](KernelSemaphoreAttr semaphore) {
        visit("id", semaphore.getId());
        visit("core_type", static_cast<int64_t>(semaphore.getCoreType()));
        visit("core_ranges", cornersOf(semaphore.getCoreRanges()));
        visit("initial_value", semaphore.getInitialValue());
        return true;
      })
      .Case([&](CoreRuntimeArgsAttr core) {
        visit("x", core.getCoreCoord().getX());
        visit("y", core.getCoreCoord().getY());
        visit("args", core.getArgs());
        return true;
      })
      .Case([&](KernelArgAddressOfTensorAttr arg) { return visit("tensor_index", arg.getTensorIndex()), true; })
      .Case([&](KernelArgCBBufferIndexAttr arg) { return visit("buffer_index", arg.getBufferIndex()), true; })
      .Case([&](KernelArgSemaphoreAtAttr arg) { return visit("semaphore_index", arg.getSemaphoreIndex()), true; })
      .Case([&](KernelArgTensorAccessorArgsAttr arg) { return visit("operand_index", arg.getOperandIndex()), true; })
      .Case([&](KernelArgNamedArgAttr arg) { return visit("value", arg.getValue()), true; })
      .Default(false);
}

FailureOr<AttributeOffset> Writer::structure(StringRef name, Attribute attr) {
  std::vector<AttributeOffset> fields;
  if (isa<ReadKernelAttr, WriteKernelAttr, ComputeKernelAttr, DataMovementKernelAttr>(attr))
    return emitError() << "runs a kernel that is named by its symbol; run ttnn-embed-kernels first";
  LogicalResult result = success();
  auto visit = [&](StringRef field, const auto &value) {
    if (failed(parameter(field, value, fields)))
      result = failure();
  };
  if (!visitFields(attr, visit) && !visitProgramFields(attr, visit))
    return emitError() << (name.empty() ? Twine("holds ") : "attribute '" + name + "' is ") << attr
                       << ", which a flatbuffer cannot hold";
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
