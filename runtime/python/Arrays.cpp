//===- Arrays.cpp - programs that are run with arrays ----------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// A run with arrays of the host, in one call: small programs take less time than the creation of runtime tensors in
// Python.
//
//===----------------------------------------------------------------------===//

#include "Bindings.h"
#include "Interrupts.h"

#include <nanobind/ndarray.h>

#include <algorithm>
#include <cstring>

namespace tt::python {
namespace {

using ttnn::Tensor;

/// The memory of a row-major array, by the buffer protocol.
class View {
public:
  explicit View(nb::handle array) {
    if (PyObject_GetBuffer(array.ptr(), &view, PyBUF_C_CONTIGUOUS) != 0)
      throw nb::python_error();
  }
  ~View() { PyBuffer_Release(&view); }
  View(const View &) = delete;
  Tensor tensor(HostType type) const {
    if (hostType(deviceType(type)) != type || view.itemsize != static_cast<Py_ssize_t>(hostBytes(type)))
      throw Error("an array with elements of " + std::to_string(view.itemsize) +
                  " bytes is given as one of another type; expected one that the device has");
    return runtime::createBorrowedHostTensor(view.buf, Shape(view.shape, view.shape + view.ndim), deviceType(type));
  }

private:
  Py_buffer view{};
};

/// None for types that NumPy lacks.
std::optional<nb::dlpack::dtype> elementType(DataType type) {
  using Code = nb::dlpack::dtype_code;
  const auto of = [](Code code, uint8_t bits) { return nb::dlpack::dtype{static_cast<uint8_t>(code), bits, 1}; };
  switch (storageType(type)) {
  case StorageType::F32:
    return of(Code::Float, 32);
  case StorageType::F16:
    return of(Code::Float, 16);
  case StorageType::I32:
    return of(Code::Int, 32);
  case StorageType::U32:
    return of(Code::UInt, 32);
  case StorageType::U16:
    return of(Code::UInt, 16);
  case StorageType::U8:
    return type == DataType::Bool ? of(Code::Bool, 8) : of(Code::UInt, 8);
  case StorageType::BF16:
    break;
  }
  return std::nullopt;
}

/// Whether nothing else holds the values of a result: neither an input of the run, nor another result.
bool isAlone(const Tensor &result, const std::vector<Tensor> &given) {
  const std::byte *begin = result.data(), *end = begin + result.bytes();
  return result.share().use_count() == 2 && std::ranges::none_of(given, [&](const Tensor &tensor) {
           return tensor.shards() == 1 && tensor.data() < end && begin < tensor.data() + tensor.bytes();
         });
}

/// A tensor is returned if NumPy has no array for it.
nb::object toNumPy(const Tensor &tensor, const std::vector<Tensor> &inputs) {
  const auto type = elementType(tensor.dtype());
  if (!type || tensor.shards() != 1)
    return nb::cast(tensor);
  std::shared_ptr<std::byte> values;
  if (isAlone(tensor, inputs)) {
    tensor.markUntracked();
    values = tensor.share();
  } else {
    values = Tensor::onHost({tensor.dtype(), tensor.shape(), {}, {}, false}).share();
    std::memcpy(values.get(), tensor.data(), tensor.bytes());
  }
  auto *owner = new std::shared_ptr<std::byte>(std::move(values));
  const nb::capsule keep(owner, [](void *data) noexcept { delete static_cast<std::shared_ptr<std::byte> *>(data); });
  const std::vector<size_t> shape(tensor.shape().begin(), tensor.shape().end());
  return nb::cast(nb::ndarray<nb::numpy>(owner->get(), shape.size(), shape.data(), keep, nullptr, *type));
}

} // namespace

void bindArrays(nb::module_ &module) {
  module.def(
      "submit_arrays",
      [](const runtime::Device &device, const runtime::Binary &binary, IndexArgument program, nb::list given,
         const std::vector<HostType> &types, const std::vector<Tensor> &parameters) {
        const size_t index = programIndex(program), count = nb::len(given);
        if (types.size() != count)
          throw Error("submit_arrays: " + std::to_string(count) + " arrays, but " + std::to_string(types.size()) +
                      " types");
        std::vector<std::unique_ptr<View>> views;
        views.reserve(count);
        std::vector<Tensor> inputs;
        inputs.reserve(count + parameters.size());
        for (size_t i = 0; i < count; ++i) {
          const nb::handle each = given[i];
          inputs.push_back(PyObject_CheckBuffer(each.ptr())
                               ? views.emplace_back(std::make_unique<View>(each))->tensor(types[i])
                               : nb::cast<Tensor>(each));
        }
        inputs.insert(inputs.end(), parameters.begin(), parameters.end());
        const runtime::Tensors results =
            interruptibly([&] { return runtime::submit(device, binary, index, inputs, {}); });
        nb::list arrays;
        for (const Tensor &result : results)
          arrays.append(toNumPy(result, inputs));
        return arrays;
      },
      nb::arg("device"), nb::arg("executable"), nb::arg("program_index"), nb::arg("arrays"), nb::arg("types"),
      nb::arg("parameters"),
      "Runs a program with arrays in rows (or tensors), of these types, and tensors after them. Returns its outputs as "
      "NumPy arrays, which own their values; those of several chips, and of types that NumPy lacks, as tensors.");
}

} // namespace tt::python
