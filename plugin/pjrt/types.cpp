//===- types.cpp - element types of JAX, and what the chip holds them in ---===//
// SPDX-License-Identifier: Apache-2.0

#include "types.h"
#include "numbers/small_floats.h"
#include "tt/runtime/runtime.h"

#include <array>
#include <cstring>
#include <functional>
#include <limits>

namespace tt::pjrt {
namespace {

using enum DataType;
constexpr std::nullopt_t none = std::nullopt;

#define T(name) PJRT_Buffer_Type_##name
const std::array types = {
    TypeInfo{T(PRED), "i1", 1, Kind::Bool, Bool, none},
    TypeInfo{T(S8), "i8", 1, Kind::Signed, none, Int32},
    TypeInfo{T(S16), "i16", 2, Kind::Signed, none, Int32},
    TypeInfo{T(S32), "i32", 4, Kind::Signed, Int32, none},
    TypeInfo{T(S64), "i64", 8, Kind::Signed, none, Int32},
    TypeInfo{T(U8), "ui8", 1, Kind::Unsigned, UInt8, none},
    TypeInfo{T(U16), "ui16", 2, Kind::Unsigned, UInt16, none},
    TypeInfo{T(U32), "ui32", 4, Kind::Unsigned, UInt32, none},
    TypeInfo{T(U64), "ui64", 8, Kind::Unsigned, none, UInt32},
    TypeInfo{T(F16), "f16", 2, Kind::Float, Float16, none},
    TypeInfo{T(F32), "f32", 4, Kind::Float, Float32, none},
    TypeInfo{T(F64), "f64", 8, Kind::Float, none, Float32},
    TypeInfo{T(BF16), "bf16", 2, Kind::Float, BFloat16, none},
    TypeInfo{T(S4), "i4", 1, Kind::Signed, none, Int32},
    TypeInfo{T(U4), "ui4", 1, Kind::Unsigned, none, UInt8},
    TypeInfo{T(S2), "i2", 1, Kind::Signed, none, Int32},
    TypeInfo{T(U2), "ui2", 1, Kind::Unsigned, none, UInt8},
    TypeInfo{T(C64), "complex<f32>", 8, Kind::Complex, Float32, none},
    TypeInfo{T(C128), "complex<f64>", 16, Kind::Complex, none, Float32},
    TypeInfo{T(F8E5M2), "f8E5M2", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E4M3FN), "f8E4M3FN", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E4M3B11FNUZ), "f8E4M3B11FNUZ", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E5M2FNUZ), "f8E5M2FNUZ", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E4M3FNUZ), "f8E4M3FNUZ", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E4M3), "f8E4M3", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E3M4), "f8E3M4", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F8E8M0FNU), "f8E8M0FNU", 1, Kind::SmallFloat, none, Float32},
    TypeInfo{T(F4E2M1FN), "f4E2M1FN", 1, Kind::SmallFloat, none, Float32},
};
#undef T

template <class T> T load(const std::byte *from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class From, class To> void convert(const std::byte *from, std::byte *to, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    const To value = static_cast<To>(load<From>(from + i * sizeof(From)));
    std::memcpy(to + i * sizeof(To), &value, sizeof(To));
  }
}

/// Converts to a type of fewer bits; throws for a value that it does not have.
template <class From, class To>
void narrow(const std::byte *from, std::byte *to, size_t count, const TypeInfo &type, const std::string &what) {
  for (size_t i = 0; i < count; ++i) {
    const From value = load<From>(from + i * sizeof(From));
    if (!std::in_range<To>(value))
      throw PluginError(PJRT_Error_Code_OUT_OF_RANGE, what + " is " + type.name + " and has the value " +
                                                          std::to_string(value) + " at element " + std::to_string(i) +
                                                          "; the chip holds 64-bit integers in 32 bits, " +
                                                          std::to_string(std::numeric_limits<To>::min()) + " to " +
                                                          std::to_string(std::numeric_limits<To>::max()));
    const To small = static_cast<To>(value);
    std::memcpy(to + i * sizeof(To), &small, sizeof(To));
  }
}

/// The lower bits of bytes; the host leaves the others unspecified.
void extendBits(std::byte *bytes, size_t count, unsigned bits, bool isSigned) {
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<uint8_t>(static_cast<uint8_t>(bytes[i]) << (8 - bits));
    bytes[i] = isSigned ? static_cast<std::byte>(static_cast<int8_t>(value) >> (8 - bits))
                        : static_cast<std::byte>(value >> (8 - bits));
  }
}

/// Bits of an integer of less than a byte, or 0.
unsigned bitsBelowByte(PJRT_Buffer_Type type) {
  switch (type) {
  case PJRT_Buffer_Type_S4:
  case PJRT_Buffer_Type_U4:
    return 4;
  case PJRT_Buffer_Type_S2:
  case PJRT_Buffer_Type_U2:
    return 2;
  default:
    return 0;
  }
}

/// Converts from the type in which the chip holds `type` to that of the host: a conversion of bits, never of values.
template <class Held> void widen(const TypeInfo &type, const std::byte *from, std::byte *to, size_t count) {
  switch (type.bytes) {
  case 1:
    return convert<Held, int8_t>(from, to, count);
  case 2:
    return convert<Held, int16_t>(from, to, count);
  default:
    return type.kind == Kind::Unsigned ? convert<Held, uint64_t>(from, to, count)
                                       : convert<Held, int64_t>(from, to, count);
  }
}

} // namespace

const TypeInfo &typeInfo(PJRT_Buffer_Type type) {
  for (const TypeInfo &row : types)
    if (row.type == type)
      return row;
  unimplemented("element type " + std::to_string(type) + " of PJRT is not known to the plugin for tt");
}

const TypeInfo *findType(std::string_view name) {
  for (const TypeInfo &row : types)
    if (row.name == name)
      return &row;
  return nullptr;
}

std::string shapeText(const TypeInfo &type, std::span<const int64_t> dims) {
  return type.name + toString(Shape(dims.begin(), dims.end()));
}

size_t elementCount(std::span<const int64_t> dims) {
  return static_cast<size_t>(volume(Shape(dims.begin(), dims.end())));
}

std::vector<int64_t> rowStrides(const TypeInfo &type, std::span<const int64_t> dims) {
  std::vector<int64_t> strides(dims.size());
  int64_t step = type.bytes;
  for (size_t i = dims.size(); i-- > 0; step *= dims[i])
    strides[i] = step;
  return strides;
}

std::vector<int64_t> stridesOf(const PJRT_Buffer_MemoryLayout *layout, const TypeInfo &type,
                               std::span<const int64_t> dims) {
  if (!layout)
    return rowStrides(type, dims);
  const size_t rank = dims.size();
  if (layout->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    const auto &given = layout->strides;
    if (given.num_byte_strides != rank)
      invalid("a layout has " + std::to_string(given.num_byte_strides) + " strides for " + shapeText(type, dims));
    return {given.byte_strides, given.byte_strides + rank};
  }
  const auto &tiled = layout->tiled;
  if (tiled.num_tiles)
    unimplemented("a layout of " + shapeText(type, dims) + " has tiles; the plugin for tt takes and gives rows");
  if (tiled.minor_to_major_size != rank)
    invalid("a layout orders " + std::to_string(tiled.minor_to_major_size) + " dimensions of " + shapeText(type, dims));
  return orderStrides({tiled.minor_to_major, tiled.minor_to_major + rank}, type, dims);
}

Order orderOf(const PJRT_Buffer_MemoryLayout *layout, const TypeInfo &type, std::span<const int64_t> dims) {
  const std::vector<int64_t> strides = stridesOf(layout, type, dims), rows = rowStrides(type, dims);
  bool isRows = true;
  for (size_t i = 0; i < dims.size(); ++i)
    isRows = isRows && (dims[i] <= 1 || strides[i] == rows[i]);
  if (layout && layout->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
    Order order(layout->tiled.minor_to_major, layout->tiled.minor_to_major + dims.size());
    return std::ranges::is_sorted(order, std::greater()) ? Order() : order;
  }
  if (isRows)
    return {};
  unimplemented("the array " + shapeText(type, dims) + " is needed with strides that are not those of its rows");
}

std::vector<int64_t> orderStrides(const Order &order, const TypeInfo &type, std::span<const int64_t> dims) {
  if (order.empty())
    return rowStrides(type, dims);
  std::vector<int64_t> strides(dims.size(), 0);
  int64_t step = type.bytes;
  for (size_t i = 0; i < order.size(); ++i) {
    const int64_t dim = order[i];
    if (dim < 0 || static_cast<size_t>(dim) >= dims.size() || strides[dim])
      invalid("a layout of " + shapeText(type, dims) + " does not order its dimensions: " + std::to_string(dim) +
              " is at place " + std::to_string(i));
    strides[dim] = step;
    step *= std::max<int64_t>(dims[dim], 1);
  }
  return strides;
}

void copyStrided(std::byte *to, std::span<const int64_t> toStrides, const std::byte *from,
                 std::span<const int64_t> fromStrides, std::span<const int64_t> dims, size_t bytes) {
  const size_t count = elementCount(dims);
  if (!count)
    return;
  bool rows = true;
  int64_t step = static_cast<int64_t>(bytes);
  for (size_t i = dims.size(); i-- > 0; step *= dims[i])
    rows = rows && (dims[i] == 1 || (toStrides[i] == step && fromStrides[i] == step));
  if (rows) {
    std::memcpy(to, from, count * bytes);
    return;
  }
  std::vector<int64_t> index(dims.size(), 0);
  for (size_t element = 0; element < count; ++element) {
    std::memcpy(to, from, bytes);
    for (size_t i = dims.size(); i-- > 0;) {
      to += toStrides[i], from += fromStrides[i];
      if (++index[i] < dims[i])
        break;
      to -= toStrides[i] * index[i], from -= fromStrides[i] * index[i];
      index[i] = 0;
    }
  }
}

ttnn::Tensor toTensor(const TypeInfo &type, std::span<const int64_t> dims, const std::shared_ptr<std::byte> &values,
                      const std::string &what) {
  const std::optional<DataType> dtype = type.onDevice();
  if (!dtype)
    unimplemented(what + " is " + shapeText(type, dims) + "; the chip has no type for " + type.name);
  TensorSpec spec;
  spec.dtype = *dtype;
  spec.shape.assign(dims.begin(), dims.end());
  if (type.kind == Kind::Complex)
    spec.shape.push_back(2);
  if (type.same)
    return ttnn::Tensor::fromShards(std::move(spec), ttnn::Tensor::Shards{values});
  ttnn::Tensor tensor = ttnn::Tensor::onHost(std::move(spec));
  const size_t count = elementCount(dims) * (type.kind == Kind::Complex ? 2 : 1);
  const std::byte *from = values.get();
  std::byte *to = tensor.data();
  std::vector<std::byte> extended;
  if (const unsigned bits = bitsBelowByte(type.type)) {
    extended.assign(from, from + count);
    extendBits(extended.data(), count, bits, type.kind == Kind::Signed);
    from = extended.data();
  }
  if (type.kind == Kind::SmallFloat)
    expandSmallFloats(type.type, from, to, count);
  else if (type.kind == Kind::Float || type.kind == Kind::Complex)
    convert<double, float>(from, to, count);
  else if (type.bytes == 8 && type.kind == Kind::Signed)
    narrow<int64_t, int32_t>(from, to, count, type, what);
  else if (type.bytes == 8)
    narrow<uint64_t, uint32_t>(from, to, count, type, what);
  else if (type.kind == Kind::Unsigned)
    convert<uint8_t, uint8_t>(from, to, count);
  else if (type.bytes == 2)
    convert<int16_t, int32_t>(from, to, count);
  else
    convert<int8_t, int32_t>(from, to, count);
  return tensor;
}

void fromTensor(const TypeInfo &type, const ttnn::Tensor &tensor, std::byte *to) {
  const std::optional<DataType> dtype = type.onDevice();
  if (!dtype)
    unimplemented(std::string("a result is ") + type.name + ", for which the chip has no type");
  const ttnn::Tensor held = runtime::castTensor(tensor, *dtype);
  const size_t count = static_cast<size_t>(volume(held.shape()));
  if (type.same)
    std::memcpy(to, held.data(), held.bytes());
  else if (type.kind == Kind::SmallFloat)
    packSmallFloats(type.type, held.data(), to, count);
  else if (type.kind == Kind::Float || type.kind == Kind::Complex)
    convert<float, double>(held.data(), to, count);
  else if (*dtype == UInt8)
    widen<uint8_t>(type, held.data(), to, count);
  else if (*dtype == UInt32)
    widen<uint32_t>(type, held.data(), to, count);
  else
    widen<int32_t>(type, held.data(), to, count);
}

} // namespace tt::pjrt
