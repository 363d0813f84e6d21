//===- program_descriptors.hpp - programs of kernels --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A program describes kernels in C++, with their cores and arguments, circular
// buffers and semaphores. The kernels are compiled by the system's compiler and
// run as native code of the process: they are the caller's own code
// (docs/kernels.md).
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttnn/ttnn.hpp"

#include <utility>
#include <variant>

namespace tt::tt_metal {

using ttnn::CoreCoord, ttnn::CoreRange, ttnn::CoreRangeSet, ttnn::MathFidelity;

enum class DataMovementProcessor { RISCV_0, RISCV_1 };
enum class NOC : uint8_t { NOC_0, NOC_1 };
enum class NOC_MODE : uint8_t { DM_DEDICATED_NOC, DM_DYNAMIC_NOC };
enum class UnpackToDestMode : uint8_t { UnpackToDestFp32, Default };

/// The index of a circular buffer, the type of its elements, and the bytes of a page.
struct CBFormatDescriptor {
  uint32_t buffer_index = 0;
  ttnn::DataType data_format = ttnn::DataType::BFLOAT16;
  uint32_t page_size = 0;
};

/// The bytes of a circular buffer, its cores, and the formats of the indices that share it. It lies in the shards of
/// `tensor`, `address_offset` bytes behind their begin, or else below all tensors in L1.
struct CBDescriptor {
  uint32_t total_size = 0;
  CoreRangeSet core_ranges = {};
  std::vector<CBFormatDescriptor> format_descriptors = {};
  std::optional<ttnn::Tensor> tensor = {};
  uint32_t address_offset = 0;
};

struct SemaphoreDescriptor {
  uint32_t id = 0;
  CoreRangeSet core_ranges = {};
  uint32_t initial_value = 0;
};

struct ReaderConfigDescriptor {}; // RISCV_1, NOC_0
struct WriterConfigDescriptor {}; // RISCV_0, NOC_1
struct DataMovementConfigDescriptor {
  DataMovementProcessor processor = DataMovementProcessor::RISCV_0;
  NOC noc = NOC::NOC_0;
  NOC_MODE noc_mode = NOC_MODE::DM_DEDICATED_NOC;
};
struct ComputeConfigDescriptor {
  MathFidelity math_fidelity = MathFidelity::HiFi4;
  bool fp32_dest_acc_en = false;
  bool dst_full_sync_en = false;
  std::vector<UnpackToDestMode> unpack_to_dest_mode = {}; // by the index of a circular buffer
  bool bfp8_pack_precise = false;
  bool math_approx_mode = false;
};

struct KernelDescriptor {
  enum class SourceType { FILE_PATH, SOURCE_CODE };

  std::string kernel_source = {}; // a path, or the text
  SourceType source_type = SourceType::FILE_PATH;
  CoreRangeSet core_ranges = {};
  std::vector<uint32_t> compile_time_args = {};
  std::vector<std::pair<std::string, std::string>> defines = {};
  std::vector<std::pair<CoreCoord, std::vector<uint32_t>>> runtime_args = {}; // of cores that have some
  std::vector<uint32_t> common_runtime_args = {};
  std::variant<ReaderConfigDescriptor, WriterConfigDescriptor, DataMovementConfigDescriptor, ComputeConfigDescriptor>
      config = {};
};

struct ProgramDescriptor {
  std::vector<KernelDescriptor> kernels = {};
  std::vector<SemaphoreDescriptor> semaphores = {};
  std::vector<CBDescriptor> cbs = {};
};

/// Where a tensor lies in each bank or core that it touches, in bytes, as an argument of a kernel. Throws Error for one
/// on the host.
uint32_t buffer_address(const ttnn::Tensor &tensor);

/// A circular buffer that lies in the shards of a tensor, whose tiles or rows are its pages. A `total_size` of 0 is the
/// rest of the shard; without `core_ranges`, the cores are those of the tensor. Throws Error for a tensor that is not
/// sharded in L1, and for a shard that has no room for the buffer.
CBDescriptor cb_descriptor_from_sharded_tensor(uint32_t cb_index, const ttnn::Tensor &tensor,
                                               uint32_t address_offset = 0, uint32_t total_size = 0,
                                               const std::optional<CoreRangeSet> &core_ranges = std::nullopt);

} // namespace tt::tt_metal

namespace tt::ttnn {

/// Runs the kernels of a program on tensors of a device, on every chip of a mesh, and returns the last one, which has
/// the result. Kernels find every tensor at its address. What they write to any of them stays there; a trace records
/// the run. Throws Error: no tensors, or some on the host or on two devices; what the cores do not have; a kernel that
/// does not compile, does something wrong, or waits for what never comes.
Tensor generic_op(const std::vector<Tensor> &io_tensors, const tt_metal::ProgramDescriptor &program_descriptor);

} // namespace tt::ttnn
