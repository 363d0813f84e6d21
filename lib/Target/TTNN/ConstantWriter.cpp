//===- ConstantWriter.cpp - serialization of constants --------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "ConstantWriter.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/bit.h"

#include <cmath>
#include <cstring>

using namespace mlir;
using namespace mlir::tt;
using namespace mlir::tt::ttnn;

//===----------------------------------------------------------------------===//
// How values are stored
//===----------------------------------------------------------------------===//

namespace {
/// bfloat16, rounded to nearest even.
struct BF16 {
  uint16_t bits = 0;
  BF16() = default;
  explicit BF16(float value) {
    uint32_t wide = llvm::bit_cast<uint32_t>(value);
    bits = std::isnan(value) ? (wide >> 16) | 0x40 : (wide + 0x7fff + ((wide >> 16) & 1)) >> 16;
  }
  explicit operator float() const { return llvm::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }
};
} // namespace

/// Calls `visit` with a value of the type in which a data type is stored: block formats as their bf16 values, which the
/// op that reads them rounds further.
template <class Visit> static auto visitStorage(ttcore::DataType dataType, Visit visit) {
  switch (dataType) {
  case ttcore::DataType::Float32:
    return visit(float());
  case ttcore::DataType::Float16:
    return visit(_Float16());
  case ttcore::DataType::UInt32:
    return visit(uint32_t());
  case ttcore::DataType::UInt16:
    return visit(uint16_t());
  case ttcore::DataType::UInt8:
  case ttcore::DataType::Bool:
    return visit(uint8_t());
  case ttcore::DataType::Int32:
    return visit(int32_t());
  default:
    return visit(BF16());
  }
}

uint64_t ttnn::storedBytes(ElementsAttr elements, ttcore::DataType dataType) {
  return elements.getNumElements() * visitStorage(dataType, [](auto value) { return sizeof(value); });
}

/// Calls `visit` with a value of the C++ type of an MLIR element type; false if
/// there is none.
template <class Visit> static bool visitElement(Type type, Visit visit) {
  if (type.isF64())
    return visit(double()), true;
  if (type.isF32())
    return visit(float()), true;
  if (type.isF16())
    return visit(_Float16()), true;
  if (type.isBF16())
    return visit(BF16()), true;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return false;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return visit(bool()), true;
  case 2: // in the lower bits of a byte, which storeElements extends
  case 4:
  case 8:
    return isUnsigned ? visit(uint8_t()) : visit(int8_t()), true;
  case 16:
    return isUnsigned ? visit(uint16_t()) : visit(int16_t()), true;
  case 32:
    return isUnsigned ? visit(uint32_t()) : visit(int32_t()), true;
  case 64:
    return isUnsigned ? visit(uint64_t()) : visit(int64_t()), true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

template <class T> static constexpr bool isFloat = !std::is_integral_v<T>;

template <class T> static std::string spell(T value) {
  if constexpr (isFloat<T>)
    return std::to_string(static_cast<float>(value));
  else
    return std::to_string(value);
}

/// `value` as a To; false if it has no such value.
template <class To, class From> static bool convert(From value, bool toBool, To &out) {
  if constexpr (isFloat<From>) {
    double wide = static_cast<double>(static_cast<float>(value));
    if constexpr (std::is_same_v<From, double>)
      wide = value;
    if constexpr (isFloat<To>) {
      out = To(static_cast<float>(wide));
      return true;
    } else {
      if (toBool) {
        out = wide != 0;
        return true;
      }
      double whole = std::trunc(wide);
      if (!(whole >= static_cast<double>(std::numeric_limits<To>::min()) &&
            whole <= static_cast<double>(std::numeric_limits<To>::max())))
        return false;
      out = static_cast<To>(whole);
      return true;
    }
  } else if constexpr (isFloat<To>) {
    out = To(static_cast<float>(value));
    return true;
  } else {
    if (toBool) {
      out = value != 0;
      return true;
    }
    if constexpr (std::is_same_v<From, bool>) {
      out = value;
      return true;
    } else {
      out = static_cast<To>(value);
      return std::in_range<To>(value);
    }
  }
}

namespace {
/// The bytes of an elements attribute: one value for a splat.
struct Source {
  ArrayRef<char> bytes;
  bool isSplat = false;
  SmallVector<char> unpacked;
};
} // namespace

static LogicalResult readSource(ElementsAttr elements, Source &source, function_ref<InFlightDiagnostic()> emitError) {
  if (auto dense = dyn_cast<DenseIntOrFPElementsAttr>(elements)) {
    source.isSplat = dense.isSplat();
    // Single bits may be packed.
    if (dense.getElementType().isInteger(1)) {
      if (source.isSplat)
        source.unpacked.push_back(dense.getSplatValue<bool>());
      else
        llvm::append_range(source.unpacked, dense.getValues<bool>());
      source.bytes = source.unpacked;
    } else {
      source.bytes = dense.getRawData();
    }
    return success();
  }
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    const AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob)
      return emitError() << "constant '" << resource.getRawHandle().getKey()
                         << "' has no data; it was left out when the module was printed";
    source.bytes = blob->getData();
    return success();
  }
  return emitError() << "constant is neither dense nor a resource";
}

LogicalResult ttnn::storeElements(ElementsAttr elements, ttcore::DataType dataType, uint8_t *data,
                                  function_ref<InFlightDiagnostic()> emitError) {
  Source source;
  if (failed(readSource(elements, source, emitError)))
    return failure();
  SmallVector<char> extended;
  if (auto integer = dyn_cast<IntegerType>(elements.getElementType());
      integer && integer.getWidth() > 1 && integer.getWidth() < 8) {
    const unsigned gone = 8 - integer.getWidth();
    for (char byte : source.bytes) {
      const auto high = static_cast<uint8_t>(static_cast<uint8_t>(byte) << gone);
      extended.push_back(static_cast<char>(integer.isUnsigned() ? high >> gone : static_cast<int8_t>(high) >> gone));
    }
    source.bytes = extended;
  }
  size_t count = elements.getNumElements();
  uint64_t bytes = storedBytes(elements, dataType);
  bool toBool = dataType == ttcore::DataType::Bool;
  LogicalResult result = success();
  auto store = [&](auto from, auto to) {
    using From = decltype(from);
    using To = decltype(to);
    size_t given = source.bytes.size() / sizeof(From);
    if (given != (source.isSplat ? 1 : count) || given * sizeof(From) != source.bytes.size()) {
      result = emitError() << "constant of type " << elements.getType() << " has " << source.bytes.size()
                           << " bytes of data; expected " << count * sizeof(From);
      return;
    }
    if (std::is_same_v<From, To> && !source.isSplat && !toBool) {
      if (bytes)
        std::memcpy(data, source.bytes.data(), bytes);
      return;
    }
    for (size_t i = 0; i < count; ++i) {
      std::memcpy(&from, source.bytes.data() + (source.isSplat ? 0 : i * sizeof(From)), sizeof(From));
      if (!convert(from, toBool, to)) {
        result = emitError() << "value " << spell(from) << " at position " << i << " of a constant does not fit into "
                             << stringifyDataType(dataType);
        return;
      }
      std::memcpy(data + i * sizeof(To), &to, sizeof(To));
    }
  };
  if (!visitElement(elements.getElementType(),
                    [&](auto from) { visitStorage(dataType, [&](auto to) { store(from, to); }); }))
    return emitError() << "constant has elements of type " << elements.getElementType()
                       << ", which no data format holds";
  return result;
}

FailureOr<uint32_t> ConstantWriter::add(ElementsAttr elements, ttcore::DataType dataType,
                                        function_ref<InFlightDiagnostic()> emitError) {
  auto [found, isNew] = indices.try_emplace({elements, static_cast<unsigned>(dataType)}, constants.size());
  if (!isNew)
    return found->second;
  constexpr size_t alignment = 64;
  uint64_t bytes = storedBytes(elements, dataType);
  uint8_t *data = nullptr;
  builder.ForceVectorAlignment(bytes, 1, alignment);
  auto vector = flatbuffers::Offset<flatbuffers::Vector<uint8_t>>(builder.CreateUninitializedVector(bytes, 1, &data));
  if (failed(storeElements(elements, dataType, data, emitError)))
    return failure();
  constants.push_back(::tt::target::CreateConstant(builder, vector));
  return found->second;
}
