//===- tt_backend_api_types.hpp - device images, for C++ programs -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The types of PyBuda's C++ interface: device images (.tti), tensors of the
// host, and what is known of a queue. Needs C++17. docs/pybuda.md has a program.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

namespace tt {

inline constexpr unsigned PY_TENSOR_DIMS = 5;

/// Numbers as in pybuda.DataFormat. Tensors of the host have formats without blocks.
enum class DataFormat : std::uint8_t {
  Float32 = 0,
  Float16 = 1,
  Bfp8 = 2,
  Bfp4 = 3,
  Float16_b = 5,
  Bfp8_b = 6,
  Bfp4_b = 7,
  Int32 = 8,
  Lf8 = 10,
  Bfp2 = 11,
  UInt16 = 12,
  Int8 = 14,
  Bfp2_b = 15,
  RawUInt8 = 0xF0,
  RawUInt16 = 0xF1,
  RawUInt32 = 0xF2,
  Invalid = 0xFF,
};

enum class ARCH { GRAYSKULL = 0, WORMHOLE_B0 = 2, Invalid = 0xFF };

/// What functions return that move tensors or run programs. The reason of an error goes to stderr.
enum class DEVICE_STATUS_CODE {
  Success = 0,
  RuntimeError = 1, // it cannot be, now or later
  TimeoutError = 2, // nothing was changed; it may be tried again
};

/// Who frees the values of a tensor.
enum class OWNERSHIP { Frontend = 0, Backend = 1 };

enum class IO_TYPE { Queue, RandomAccess, Invalid };

/// What an image must be for; what is left as it is fits every image.
struct tt_backend_config {
  ARCH arch = ARCH::Invalid;
  /// Rows of each chip, by its number.
  std::unordered_map<int, std::vector<std::uint32_t>> harvested_rows = {};
};

/// A queue, as processes tell each other.
struct tt_dram_io_desc {
  std::string netlist_path; // a file that processes share, which the queue is in
  std::string queue_name;
  std::uint32_t bufq_num_slots = 0;  // entries that it can hold
  std::uint32_t bufq_entry_size = 0; // bytes of an entry
  std::uint32_t input_count = 0;     // entries in a microbatch: the outermost dimension
  DataFormat bufq_target_format = DataFormat::Invalid;
  IO_TYPE io_type = IO_TYPE::Invalid;
};

/// A tensor of the host.
struct tt_PytorchTensorDesc {
  const void *ptr = nullptr;
  std::uint32_t itemsize = 0; // bytes of an element
  DataFormat format = DataFormat::Invalid;
  std::array<std::uint32_t, PY_TENSOR_DIMS> shape = {};   // the outermost dimension first
  std::array<std::uint32_t, PY_TENSOR_DIMS> strides = {}; // in bytes
  unsigned dim = 0;                                       // dimensions of it that count
  OWNERSHIP owner = OWNERSHIP::Frontend;
};

namespace backend {
struct Image;
}

/// A file of one image, or of several that were merged. Their names are those of the netlist; of merged images they
/// follow the model's: "bert.input_ids".
class tt_device_image {
public:
  /// Reads and checks the file. Throws std::runtime_error naming the file, the field, what was expected and found.
  ///
  /// output_path: programs that use the same folder, in one process or several, share the queues. A relative one is of
  /// the directory that the process is in now.
  tt_device_image(const std::string &tti_path, const std::string &output_path);

  const std::vector<std::string> &get_graph_input_names() const;
  const std::vector<std::string> &get_graph_output_names() const;
  const std::string &get_output_path() const { return outputPath; }
  const backend::Image &contents() const { return *image; }

private:
  std::shared_ptr<const backend::Image> image;
  std::string outputPath;
};

} // namespace tt
