//===- io.cpp - tensors to and from queues --------------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "io_utils.h"
#include "queues.h"
#include "status.h"
#include "tt/fork.h"
#include "tt/sim/host.h"
#include "tt_backend_api.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <mutex>
#include <random>

namespace tt::backend {
namespace {

/// Values that free_tensor() frees.
struct Owned {
  ForkAware<std::mutex> mutex;
  std::map<const void *, std::shared_ptr<std::byte>> values;
};
Owned &owned() {
  static Owned *const only = new Owned; // tensors may be freed at exit
  return *only;
}

void *allocate(size_t bytes) {
  // At least one byte, so that each tensor has its own address.
  std::shared_ptr<std::byte> values = sim::allocateHost(std::max<size_t>(bytes, 1), "a tensor of the host");
  Owned &known = owned();
  std::lock_guard lock(known.mutex);
  return (known.values[values.get()] = values).get();
}

tt_PytorchTensorDesc described(const Shape &shape, DataType dtype) {
  tt_PytorchTensorDesc found;
  found.itemsize = static_cast<uint32_t>(storageBytes(dtype));
  found.format = formatOf(dtype);
  found.dim = static_cast<unsigned>(shape.size());
  uint64_t stride = found.itemsize;
  for (size_t i = shape.size(); i-- > 0;) {
    found.shape[i] = static_cast<uint32_t>(shape[i]);
    found.strides[i] = static_cast<uint32_t>(stride);
    stride *= static_cast<uint64_t>(shape[i]);
  }
  return found;
}

Shape shapeOf(const tt_PytorchTensorDesc &tensor) {
  if (tensor.dim > PY_TENSOR_DIMS)
    throw Error("the tensor has " + std::to_string(tensor.dim) + " dimensions; expected " +
                std::to_string(PY_TENSOR_DIMS) + " at most");
  return {tensor.shape.begin(), tensor.shape.begin() + tensor.dim};
}

/// Returns the shape without outer dimensions of 1, which PyBuda adds.
Shape inner(Shape shape) {
  const auto first = std::ranges::find_if(shape, [](int64_t size) { return size != 1; });
  return {first, shape.end()};
}

/// One microbatch, or one entry of it.
Shape shapeFor(const Port &port, bool one) {
  Shape shape = port.shape;
  if (one && !shape.empty())
    shape[0] = std::min<int64_t>(shape[0], 1);
  return shape;
}

/// The values in the queue's form. Throws Error that states what does not fit.
runtime::Tensor fitted(const tt_PytorchTensorDesc &tensor, const Port &port, const Shape &expected) {
  const Shape shape = shapeOf(tensor);
  if (inner(shape) != inner(expected))
    throw Error(port.name + " takes " + toString(expected) + "; the tensor has " + toString(shape));
  const DataType dtype = dataTypeOf(tensor.format);
  if (isFloat(dtype) != isFloat(port.dtype))
    throw Error(port.name + " takes " + std::string(toString(port.dtype)) + "; the tensor has " +
                std::string(toString(dtype)));
  const size_t itemsize = storageBytes(dtype);
  if (tensor.itemsize != itemsize)
    throw Error("the tensor's itemsize is " + std::to_string(tensor.itemsize) + "; " + std::string(toString(dtype)) +
                " has " + std::to_string(itemsize) + " bytes");
  if (!tensor.ptr && volume(shape) > 0)
    throw Error("the tensor for " + port.name + " has no values");
  std::vector<int64_t> strides;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (tensor.strides[i] % itemsize != 0)
      throw Error("stride " + std::to_string(tensor.strides[i]) + " of the tensor is no multiple of its itemsize, " +
                  std::to_string(itemsize));
    strides.push_back(static_cast<int64_t>(tensor.strides[i] / itemsize));
  }
  return runtime::castTensor(runtime::createHostTensor(tensor.ptr, shape, strides, dtype), port.dtype);
}

uint64_t entriesOf(const Port &port, bool one) { return one ? 1 : port.entries(); }

} // namespace

DEVICE_STATUS_CODE push_input(const tt_dram_io_desc &q_desc, const tt_PytorchTensorDesc &py_tensor_desc, bool push_one,
                              int timeout_in_seconds) {
  return guarded("push_input", [&] {
    const auto queues = Queues::at(q_desc.netlist_path);
    Queues::Row &row = queues->row(q_desc.queue_name, true);
    const Port port = Queues::port(row);
    const runtime::Tensor values = fitted(py_tensor_desc, port, shapeFor(port, push_one));
    queues->push(row, values.data(), entriesOf(port, push_one), timeout_in_seconds);
  });
}

DEVICE_STATUS_CODE get_output(const tt_dram_io_desc &q_desc, tt_PytorchTensorDesc &py_tensor_desc, bool get_one,
                              int timeout_in_seconds) {
  return guarded("get_output", [&] {
    const auto queues = Queues::at(q_desc.netlist_path);
    Queues::Row &row = queues->row(q_desc.queue_name, false);
    const Port port = Queues::port(row);
    const Shape shape = shapeFor(port, get_one);
    tt_PytorchTensorDesc found = described(shape, port.dtype);
    queues->wait(row, entriesOf(port, get_one), timeout_in_seconds);
    auto *const values = static_cast<std::byte *>(allocate(static_cast<size_t>(volume(shape)) * found.itemsize));
    found.ptr = values;
    found.owner = OWNERSHIP::Backend;
    try {
      queues->peek(row, values, entriesOf(port, get_one), timeout_in_seconds);
    } catch (...) {
      free_tensor(found);
      throw;
    }
    py_tensor_desc = found;
  });
}

DEVICE_STATUS_CODE pop_output(const tt_dram_io_desc &q_desc, bool pop_one, int timeout_in_seconds) {
  return guarded("pop_output", [&] {
    const auto queues = Queues::at(q_desc.netlist_path);
    Queues::Row &row = queues->row(q_desc.queue_name, false);
    queues->pop(row, entriesOf(Queues::port(row), pop_one), timeout_in_seconds);
  });
}

DEVICE_STATUS_CODE free_tensor(tt_PytorchTensorDesc &py_tensor_desc) {
  return guarded("free_tensor", [&] {
    if (py_tensor_desc.owner != OWNERSHIP::Backend)
      return;
    Owned &known = owned();
    std::lock_guard lock(known.mutex);
    if (!known.values.erase(py_tensor_desc.ptr))
      throw Error("the values of the tensor are freed already");
    py_tensor_desc.ptr = nullptr;
  });
}

} // namespace tt::backend

namespace tt::io::utils {

tt_dram_io_desc get_queue_descriptor(const std::shared_ptr<tt_backend> &backend, const std::string &queue_name) {
  return backend->get_queue_descriptor(queue_name);
}

tt_PytorchTensorDesc get_tensor_descriptor(const std::string &name, const std::shared_ptr<tt_device_image> &model,
                                           const tt_dram_io_desc &io_desc) {
  if (io_desc.queue_name != name)
    throw Error("the descriptor is of queue " + io_desc.queue_name + "; expected " + name);
  const backend::Port &port = model->contents().port(name);
  return backend::described(port.shape, port.dtype);
}

void fill_tensor_with_data(const std::string &name, tt_PytorchTensorDesc &tensor_desc) {
  const Shape shape = backend::shapeOf(tensor_desc);
  const DataType dtype = backend::dataTypeOf(tensor_desc.format);
  const auto count = static_cast<size_t>(volume(shape));
  if (!backend::isFloat(dtype)) {
    const size_t bytes = count * storageBytes(dtype);
    std::memset(const_cast<void *>(tensor_desc.ptr = backend::allocate(bytes)), 0, bytes);
  } else {
    std::seed_seq seed(name.begin(), name.end());
    std::mt19937 numbers(seed);
    std::vector<float> values(count);
    for (float &each : values)
      each = static_cast<float>(numbers() >> 8) * 0x1p-24f;
    const runtime::Tensor rounded =
        runtime::castTensor(runtime::createHostTensor(values.data(), shape, DataType::Float32), dtype);
    void *const to = backend::allocate(rounded.bytes());
    std::memcpy(to, rounded.data(), rounded.bytes());
    tensor_desc.ptr = to;
  }
  const tt_PytorchTensorDesc rows = backend::described(shape, dtype);
  tensor_desc.strides = rows.strides;
  tensor_desc.itemsize = rows.itemsize;
  tensor_desc.owner = OWNERSHIP::Backend;
}

} // namespace tt::io::utils
