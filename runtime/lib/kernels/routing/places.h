//===- places.h - which device has which expert -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/access.h"
#include "core/mesh.h"

namespace tt::ttnn {

/// The device of each expert, read at run time: from a mapping [1, 1, experts, devices] that is nonzero where a device
/// has an expert, or [rows, experts], whose first row has the number of each expert's device.
class Places {
public:
  static constexpr int64_t none = -1;

  Places(const OpCall &call, size_t operandIndex);

  /// The number of each expert among those of the device, or none. Throws if there are more than an equal part.
  std::vector<int64_t> onDevice(DeviceIns ins, size_t device) const;

  int64_t experts, devices;

private:
  std::string where;
  size_t index;
  bool numbered; // by device, and not a column for each
  Positions values;
};

/// Elements of results are written one by one: no block formats.
void expectElements(const OpCall &call);

} // namespace tt::ttnn
