//===- buffer.h - an array of JAX on a chip -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Values of types that the chip has are in its memory from the start, and so are results. Arrays of other types (64
// bits, complex numbers, small floats) that come from the host keep their values, and are converted when a program
// takes them: an array that no program takes comes back unchanged. An array in host memory is copied to the chip for
// each run.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "client.h"
#include "compile.h"

struct PJRT_Buffer {
  PJRT_Device *device = nullptr;
  PJRT_Memory *memory = nullptr; // of the device
  const tt::pjrt::TypeInfo *type = nullptr;
  std::vector<int64_t> dims;
  /// The order that JAX requested; rows are kept.
  tt::pjrt::Order order;
  // One of these two has the values; both are empty once the buffer is deleted.
  tt::ttnn::Tensor tensor;
  std::shared_ptr<std::byte> values; // rows, as on the host
  /// The values in the type that the last program expected, if it differs from theirs.
  tt::ttnn::Tensor converted;
  /// The number of calls that took the buffer: one that is taken repeatedly is a weight.
  uint32_t uses = 0;
  uint32_t references = 0; // from outside
  bool deleted = false;
  std::mutex mutex;

  std::string text() const { return tt::pjrt::shapeText(*type, dims); }
  size_t hostBytes() const { return tt::pjrt::elementCount(dims) * type->bytes; }
};

namespace tt::pjrt {

/// A result of a program.
PJRT_Buffer *resultBuffer(PJRT_Device &device, const Slot &slot, ttnn::Tensor tensor);
/// Returns a buffer without values.
PJRT_Buffer *deletedBuffer(PJRT_Device &device, const Slot &slot);
/// A tensor of one chip with values of a result of a program that ran on a mesh.
ttnn::Tensor partOf(const ttnn::Tensor &result, std::shared_ptr<std::byte> values, PJRT_Device &device);
/// Joins the values of chips to one tensor of the mesh; there are none of chips that another process simulates.
ttnn::Tensor joined(ttnn::Tensor::Shards parts, const runtime::Device &mesh, const TensorSpec &expected,
                    const std::string &what);
/// The buffer as a program requires it. Throws PluginError for a deleted one; `what` names it.
ttnn::Tensor argumentTensor(PJRT_Buffer &buffer, PJRT_Device &device, const TensorSpec &expected,
                            const std::string &what);
/// Gives the values up.
void deleteBuffer(PJRT_Buffer &buffer);

} // namespace tt::pjrt
