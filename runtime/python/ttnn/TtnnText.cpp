//===- TtnnText.cpp - printing of tensors ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "TtnnText.h"
#include "tt/sim/formats.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace tt::python {
namespace {

using ttnn::Tensor;

/// The number of elements that are shown at each end of a dimension longer than twice this, as in Tenstorrent's
/// library.
constexpr int64_t edge = 2;

template <class T> T at(const std::byte *data, int64_t index) {
  T value;
  std::memcpy(&value, data + static_cast<size_t>(index) * sizeof(T), sizeof(T));
  return value;
}

/// The printed indices of a dimension; -1 represents those in between.
std::vector<int64_t> shown(int64_t size) {
  std::vector<int64_t> indices;
  for (int64_t i = 0; i < size; ++i) {
    if (size > 2 * edge && i == edge) {
      indices.push_back(-1);
      i = size - edge;
    }
    indices.push_back(i);
  }
  return indices;
}

/// Prints the values of one shard in brackets, as Tenstorrent's library does: numbers have a minimum width.
class Printer {
public:
  Printer(const Tensor &tensor, size_t shard, size_t indent)
      : values(tensor, shard), shape(tensor.shape()), indent(indent), empty(volume(shape) == 0) {
    double largest = 0, smallest = HUGE_VAL;
    for (int64_t i = 0, count = volume(shape); i < count && !values.isInteger(); ++i)
      if (const double number = std::fabs(values.number(i)); std::isfinite(number) && number > 0)
        largest = std::max(largest, number), smallest = std::min(smallest, number);
    scientific = largest > 0 && (largest / smallest > 1e3 || largest > 1e8 || smallest < 1e-4);
  }
  std::string print() const { return empty ? "[]" : brackets(0, 0); }

private:
  std::string format(int64_t index) const {
    const double number = values.number(index);
    char buffer[64];
    if (values.isInteger())
      std::snprintf(buffer, sizeof buffer, "%5.0f", number);
    else if (!std::isfinite(number))
      std::snprintf(buffer, sizeof buffer, scientific ? "%11s" : "%7s",
                    std::isnan(number) ? "nan"
                    : number < 0       ? "-inf"
                                       : "inf");
    else
      std::snprintf(buffer, sizeof buffer, scientific ? "%11.4e" : "%7.4f", number);
    return buffer;
  }
  std::string brackets(size_t dim, int64_t offset) const {
    if (dim == shape.size())
      return format(offset);
    const bool last = dim + 1 == shape.size();
    const std::string separator =
        last ? ", " : "," + std::string(shape.size() - dim - 1, '\n') + std::string(indent + dim + 1, ' ');
    std::string text = "[";
    bool first = true;
    for (const int64_t i : shown(shape[dim])) {
      text += first ? "" : separator;
      text += i < 0 ? last ? " ..." : "..." : brackets(dim + 1, offset * shape[dim] + i);
      first = false;
    }
    return text + "]";
  }

  Values values;
  const Shape &shape;
  size_t indent;
  bool empty, scientific = false;
};

nb::object lists(const Values &values, const Shape &shape, size_t dim, int64_t offset) {
  if (dim == shape.size())
    return values.object(offset);
  nb::list list;
  for (int64_t i = 0; i < shape[dim]; ++i)
    list.append(lists(values, shape, dim + 1, offset * shape[dim] + i));
  return list;
}

} // namespace

bool Values::isInteger() const {
  switch (storageType(type)) {
  case tt::StorageType::I32:
  case tt::StorageType::U32:
  case tt::StorageType::U16:
  case tt::StorageType::U8:
    return true;
  default:
    return false;
  }
}

double Values::number(int64_t index) const {
  switch (storageType(type)) {
  case tt::StorageType::F32:
    return at<float>(data, index);
  case tt::StorageType::F16:
    return sim::f16ToF32(at<uint16_t>(data, index));
  case tt::StorageType::BF16:
    return sim::bf16ToF32(at<uint16_t>(data, index));
  case tt::StorageType::I32:
    return at<int32_t>(data, index);
  case tt::StorageType::U32:
    return at<uint32_t>(data, index);
  case tt::StorageType::U16:
    return at<uint16_t>(data, index);
  case tt::StorageType::U8:
    return at<uint8_t>(data, index);
  }
  return 0;
}

nb::object Values::object(int64_t index) const {
  const double value = number(index);
  if (type == DataType::Bool)
    return nb::bool_(value != 0);
  if (isInteger())
    return nb::int_(static_cast<int64_t>(value));
  return nb::float_(value);
}

nb::object nestedLists(const Tensor &tensor, size_t shard) {
  return lists(Values(tensor, shard), tensor.shape(), 0, 0);
}

std::string describe(const Tensor &given) {
  const Tensor tensor = given.isAllocated() ? given.gathered("repr") : given;
  const TensorSpec &spec = tensor.spec();
  constexpr size_t opening = sizeof("ttnn.Tensor(") - 1;
  std::string text = "ttnn.Tensor(";
  if (!tensor.isAllocated())
    text += "deallocated";
  else if (tensor.shards() == 1)
    text += Printer(tensor, 0, opening).print();
  else
    for (size_t shard = 0; shard < tensor.shards(); ++shard)
      text += (shard ? ",\n" + std::string(opening, ' ') : "") + "device " + std::to_string(shard) + ": " +
              Printer(tensor, shard, opening + 8 + std::to_string(shard).size() + 2).print();
  return text + ", shape=Shape(" + toString(spec.shape) + "), dtype=DataType::" + dataTypeName(spec.dtype) +
         ", layout=Layout::" + layoutName(spec.layout) + ")";
}

} // namespace tt::python
