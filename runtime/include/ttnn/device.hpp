//===- device.hpp - devices, and values on them --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ttnn/types.hpp"

#include <span>

namespace tt::ttnn {

//===- Devices ------------------------------------------------------------===//

struct MeshShape {
  uint32_t rows = 1, columns = 1;
};
struct DeviceOptions {
  Arch arch = Arch::WormholeB0;
  int64_t l1_small_size = 0;     // bytes per core
  int64_t trace_region_size = 0; // bytes of DRAM in total
  bool exact = false;            // arithmetic of the chip, bit for bit where it is published; wormhole_b0 only
};
/// A mesh of one simulated chip; its number says nothing, every device is a new one.
Device open_device(int device_id = 0, const DeviceOptions &options = {});
Device open_mesh_device(MeshShape shape, const DeviceOptions &options = {});
/// A board or box by its name: "n150", "n300", ...
Device open_mesh_device(std::string_view preset);
/// Tensors that lie on it cannot be used any more.
void close_device(const Device &device);
inline void close_mesh_device(const Device &device) { close_device(device); }

//===- Values -------------------------------------------------------------===//

/// A tensor of these values, row by row, rounded to `dtype`; on a device, in interleaved DRAM unless said otherwise.
Tensor from_vector(std::span<const float> values, const Shape &shape, DataType dtype = DataType::BFLOAT16,
                   Layout layout = Layout::ROW_MAJOR, const Device &device = {},
                   const std::optional<MemoryConfig> &memory_config = {});
/// The values of a tensor that is the same on all chips, row by row.
std::vector<float> to_vector(const Tensor &tensor);
/// A number as operands of elementwise functions may be: a tensor of rank 0, of the data type of `like`.
Tensor scalar(double value, const Tensor &like);

} // namespace tt::ttnn
