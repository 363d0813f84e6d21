//===- Utils.cpp - debug access to device memory --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Bindings.h"

#include <nanobind/stl/unique_ptr.h>

#include <algorithm>
#include <cstring>

namespace tt::python {
namespace {

using runtime::Device;

/// A buffer without a tensor.
struct MeshBuffer {
  sim::Allocation allocation;
  size_t size;
};

std::unique_ptr<MeshBuffer> allocate(const Device &device, BufferType buffer, Int<int64_t> sizeGiven,
                                     Int<int64_t> pageGiven) {
  const int64_t size = sizeGiven.in("buffer_size"), page = pageGiven.in("page_size");
  if (size <= 0 || page <= 0 || size % page != 0)
    throw Error("buffer_size is " + std::to_string(size) + " and page_size " + std::to_string(page) +
                " bytes; expected a multiple of the page size");
  // A tensor of bytes with one page per row.
  TensorSpec spec;
  spec.dtype = DataType::UInt8;
  spec.shape = {size / page, page};
  spec.memory.buffer = buffer;
  spec.memory.layout = MemoryLayout::Interleaved;
  return std::make_unique<MeshBuffer>(MeshBuffer{
      device->allocate(sim::footprint(device->chip(), spec), "a buffer allocated by hand"), static_cast<size_t>(size)});
}

/// Values in host memory, and a copy from the time of construction.
class HostSamples {
public:
  explicit HostSamples(const std::vector<nb::object> &arrays) {
    for (const nb::object &object : arrays) {
      HostArray array = hostArray(object);
      if (array.shape.size() != 2 || array.type != HostType::UInt8 || (array.shape[1] > 1 && array.stride[1] != 1))
        throw Error("samples are of shape " + toString(array.shape) +
                    "; expected rows of bytes that lie side by side, as uint8 of rank 2");
      const auto width = static_cast<size_t>(array.shape[1]);
      const auto *row = static_cast<const std::byte *>(array.data);
      for (int64_t i = 0; i < array.shape[0]; ++i, row += array.stride[0]) {
        rows.push_back({row, width});
        known.insert(known.end(), row, row + width);
      }
      memory.push_back(std::move(array));
    }
  }
  bool areUnchanged() const {
    // Each row is in a cache line of its own that was not read lately: many are fetched at a time.
    constexpr size_t ahead = 24;
    const std::byte *before = known.data();
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i + ahead < rows.size())
        __builtin_prefetch(rows[i + ahead].now);
      if (std::memcmp(before, rows[i].now, rows[i].width) != 0)
        return false;
      before += rows[i].width;
    }
    return true;
  }

private:
  struct Row {
    const std::byte *now;
    size_t width;
  };
  std::vector<HostArray> memory; // that rows are in
  std::vector<Row> rows;
  std::vector<std::byte> known; // of all rows
};

} // namespace

void bindUtils(nb::module_ &module) {
  nb::class_<HostSamples>(module, "HostSamples", "Rows of bytes in host memory, and what they were at first.")
      .def(nb::init<const std::vector<nb::object> &>(), nb::arg("arrays"), "Arrays of uint8 of rank 2.")
      .def("are_unchanged", &HostSamples::areUnchanged, "Whether all of them are what they were.");
  // Tensors and devices of the runtime are those of the library here.
  using Tensor = ::tt::ttnn::Tensor;
  module.def(
      "create_runtime_tensor_from_ttnn",
      [](Tensor tensor, bool retain) {
        tensor.setRetained(retain);
        return tensor;
      },
      nb::arg("tensor"), nb::arg("retain") = false, "The same tensor, for `submit`.");
  module.def(
      "get_ttnn_tensor_from_runtime_tensor", [](const Tensor &tensor) { return tensor; }, nb::arg("tensor"),
      "The same tensor, for functions of ttnn.");
  module.def(
      "create_runtime_device_from_ttnn", [](const Device &device) { return device; }, nb::arg("mesh_device"),
      "The same device.");
  nb::class_<MeshBuffer>(module, "MeshBuffer", "A buffer in device memory.")
      .def(
          "address", [](const MeshBuffer &self) { return self.allocation.address(); }, "In every bank.")
      .def(
          "size", [](const MeshBuffer &self) { return self.size; }, "Bytes.")
      .def("deallocate", [](MeshBuffer &self) { self.allocation.release(); })
      .def("is_allocated", [](const MeshBuffer &self) { return self.allocation.valid(); });
  module.def(
      "allocate_l1_buffer",
      [](const Device &device, Int<int64_t> size, Int<int64_t> page) {
        return allocate(device, BufferType::L1, size, page);
      },
      nb::arg("mesh_device"), nb::arg("buffer_size"), nb::arg("page_size"));
  module.def(
      "allocate_dram_buffer",
      [](const Device &device, Int<int64_t> size, Int<int64_t> page) {
        return allocate(device, BufferType::DRAM, size, page);
      },
      nb::arg("mesh_device"), nb::arg("buffer_size"), nb::arg("page_size"));
  module.def(
      "get_l1_base_allocator_addr", [](const Device &device) { return device->chip().l1UnreservedBase; },
      nb::arg("mesh_device"));
  module.def(
      "get_lowest_occupied_compute_l1_address",
      [](const Device &device) -> std::optional<int64_t> {
        const auto blocks = device->memoryView(sim::Memory::L1).blocks;
        return blocks.empty() ? std::nullopt : std::optional(blocks.front().block.address);
      },
      nb::arg("mesh_device"));
  module.def(
      "get_l1_size_per_core", [](const Device &device) { return device->chip().l1Size; }, nb::arg("mesh_device"));
}

} // namespace tt::python
