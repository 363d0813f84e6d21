//===- types.h - element types of JAX, and what the chip holds them in -----===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "common.h"
#include "tt/ttnn/tensor.h"

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace tt::pjrt {

/// A complex number is two floats of the chip, in one more dimension.
enum class Kind : uint8_t { Bool, Signed, Unsigned, Float, SmallFloat, Complex };

/// An element type of PJRT.
struct TypeInfo {
  PJRT_Buffer_Type type;
  const char *name; // as StableHLO prints it
  uint8_t bytes;    // of an element on the host
  Kind kind;
  /// The type of the chip that has the host's representation of its values.
  std::optional<DataType> same;
  /// The type of the chip that holds its values in another representation; 64 bits lose range or precision.
  std::optional<DataType> held;

  std::optional<DataType> onDevice() const { return same ? same : held; }
};

/// Dimensions from the one whose elements are adjacent in memory to the outermost; empty for row-major order.
using Order = std::vector<int64_t>;

/// Throws PluginError for an unknown one.
const TypeInfo &typeInfo(PJRT_Buffer_Type type);
/// Finds a type by its name in StableHLO, such as "f32", "ui8", "complex<f32>"; nullptr for an unknown one.
const TypeInfo *findType(std::string_view name);

/// "f32[2, 3]"
std::string shapeText(const TypeInfo &type, std::span<const int64_t> dims);
/// Number of elements; throws for a negative dimension or overflow.
size_t elementCount(std::span<const int64_t> dims);
/// Strides in bytes of rows.
std::vector<int64_t> rowStrides(const TypeInfo &type, std::span<const int64_t> dims);
/// Strides in bytes of a layout; those of row-major order for nullptr.
std::vector<int64_t> stridesOf(const PJRT_Buffer_MemoryLayout *layout, const TypeInfo &type,
                               std::span<const int64_t> dims);
/// The order of a layout. Throws PluginError if it is not an order of the dimensions.
Order orderOf(const PJRT_Buffer_MemoryLayout *layout, const TypeInfo &type, std::span<const int64_t> dims);
/// Strides in bytes of an order.
std::vector<int64_t> orderStrides(const Order &order, const TypeInfo &type, std::span<const int64_t> dims);
/// Copies elements between two layouts.
void copyStrided(std::byte *to, std::span<const int64_t> toStrides, const std::byte *from,
                 std::span<const int64_t> fromStrides, std::span<const int64_t> dims, size_t bytes);

/// Row-major values of the host as a host tensor of the type in which the chip holds them. Takes `values` over if they
/// need no conversion. Throws for a value that does not fit, naming `what`.
ttnn::Tensor toTensor(const TypeInfo &type, std::span<const int64_t> dims, const std::shared_ptr<std::byte> &values,
                      const std::string &what);
/// The values of a tensor in the host's types.
void fromTensor(const TypeInfo &type, const ttnn::Tensor &tensor, std::byte *to);

} // namespace tt::pjrt
