//===- generic_op.hpp - running of described programs ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Inline: the library does not know the classes that ttnn/operations.hpp has from ODS.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttnn/program_descriptors.hpp"

#include "tt/metal/tensors.h"
#include "tt/ttnn/trace.h"

#include <fstream>
#include <iterator>
#include <numeric>

namespace tt::tt_metal {
namespace detail {

[[noreturn]] inline void fail(const std::string &what) { throw Error("ttnn.generic_op: " + what); }

inline std::string at(const char *list, size_t index) { return std::string(list) + "[" + std::to_string(index) + "]"; }

inline metal::CoreCoord coreOf(const CoreCoord &core, const std::string &of) {
  if (core.x < 0 || core.y < 0 || core.x > UINT32_MAX || core.y > UINT32_MAX)
    fail(of + " has core (" + std::to_string(core.x) + ", " + std::to_string(core.y) +
         "); expected the place of a core");
  return {static_cast<uint32_t>(core.x), static_cast<uint32_t>(core.y)};
}

inline std::vector<metal::CoreCoord> coresOf(const CoreRangeSet &set, const std::string &of) {
  std::vector<metal::CoreCoord> cores;
  for (const CoreRange &range : set.core_ranges) {
    const auto each = metal::coreRange(coreOf(range.start_coord, of), coreOf(range.end_coord, of));
    cores.insert(cores.end(), each.begin(), each.end());
  }
  return cores;
}

/// The circular buffers of the indices that share a descriptor's bytes.
inline metal::CircularGroup circular(const CBDescriptor &given, const std::string &name) {
  std::optional<uint32_t> address;
  if (given.tensor)
    address = buffer_address(*given.tensor) + given.address_offset;
  metal::CircularGroup group;
  for (const CBFormatDescriptor &format : given.format_descriptors) {
    if (!format.page_size || given.total_size % format.page_size)
      fail(name + " has " + std::to_string(given.total_size) + " bytes; expected a multiple of page_size " +
           std::to_string(format.page_size));
    group.push_back({format.buffer_index, format.data_format, format.page_size, given.total_size / format.page_size,
                     coresOf(given.core_ranges, name), address});
  }
  if (group.empty())
    fail(name + " has no format_descriptors; expected at least one");
  return group;
}

inline std::string sourceOf(const KernelDescriptor &given, const std::string &name) {
  if (given.source_type == KernelDescriptor::SourceType::SOURCE_CODE)
    return given.kernel_source;
  std::ifstream file(given.kernel_source, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file)
    fail(name + ": kernel_source cannot be read: " + given.kernel_source);
  return text;
}

inline metal::HostKernel kernelOf(const KernelDescriptor &given, const std::string &name) {
  metal::HostKernel kernel;
  kernel.name = name;
  kernel.source = sourceOf(given, name);
  kernel.cores = coresOf(given.core_ranges, name);
  if (std::holds_alternative<WriterConfigDescriptor>(given.config))
    kernel.noc = 1;
  else if (const auto *moves = std::get_if<DataMovementConfigDescriptor>(&given.config))
    kernel.noc = static_cast<uint32_t>(moves->noc);
  else if (const auto *computes = std::get_if<ComputeConfigDescriptor>(&given.config)) {
    const auto fidelity = static_cast<int64_t>(computes->math_fidelity);
    kernel.compute = true;
    kernel.fidelityPhases = fidelity ? static_cast<uint32_t>(fidelity) : 1; // LoFi is 0, HiFi2 2
    kernel.fp32DestAcc = computes->fp32_dest_acc_en;
    kernel.dstFull = computes->dst_full_sync_en;
    kernel.bfp8PackPrecise = computes->bfp8_pack_precise;
    kernel.mathApprox = computes->math_approx_mode;
    for (size_t port = 0; port < computes->unpack_to_dest_mode.size(); ++port)
      if (computes->unpack_to_dest_mode[port] == UnpackToDestMode::UnpackToDestFp32)
        kernel.unpackToDestFp32.push_back(static_cast<uint32_t>(port));
  }
  kernel.compileTimeArgs = given.compile_time_args;
  kernel.defines = {given.defines.begin(), given.defines.end()};
  kernel.commonArgs = given.common_runtime_args;
  for (const auto &[core, args] : given.runtime_args)
    kernel.args[coreOf(core, name)] = args;
  return kernel;
}

} // namespace detail

inline uint32_t buffer_address(const ttnn::Tensor &tensor) {
  if (!tensor || !tensor.isOnDevice())
    throw Error("tt_metal.buffer_address: the tensor lies on the host; expected one on a device");
  tensor.requireAllocated("tt_metal.buffer_address");
  return static_cast<uint32_t>(tensor.address());
}

inline CBDescriptor cb_descriptor_from_sharded_tensor(uint32_t cb_index, const ttnn::Tensor &tensor,
                                                      uint32_t address_offset, uint32_t total_size,
                                                      const std::optional<CoreRangeSet> &core_ranges) {
  const auto refuse = [](const std::string &what) {
    throw Error("tt_metal.cb_descriptor_from_sharded_tensor: " + what);
  };
  if (!tensor || !tensor.isOnDevice())
    refuse("the tensor lies on the host; expected one that is sharded in L1");
  const metal::Pages pages = metal::pagesOf(tensor.spec());
  if (pages.cores.empty() || tensor.memory_config().buffer != BufferType::L1)
    refuse("the tensor is not sharded in L1; expected one that is");
  const uint64_t shard = uint64_t(pages.bytes) * pages.shardRows * pages.shardColumns;
  const uint64_t size = total_size ? total_size : shard - std::min<uint64_t>(shard, address_offset);
  if (address_offset + size > shard)
    refuse(std::to_string(size) + " bytes from " + std::to_string(address_offset) + " on; a shard of the tensor has " +
           std::to_string(shard) + " bytes");
  CBDescriptor buffer{.total_size = static_cast<uint32_t>(size),
                      .core_ranges = {},
                      .format_descriptors = {{cb_index, tensor.dtype(), pages.bytes}},
                      .tensor = tensor,
                      .address_offset = address_offset};
  if (core_ranges) {
    buffer.core_ranges = *core_ranges;
    return buffer;
  }
  for (const metal::CoreCoord &core : pages.cores)
    buffer.core_ranges.core_ranges.push_back({{core.x, core.y}, {core.x, core.y}});
  return buffer;
}

} // namespace tt::tt_metal

inline tt::ttnn::Tensor tt::ttnn::generic_op(const std::vector<Tensor> &io_tensors,
                                             const tt_metal::ProgramDescriptor &program_descriptor) {
  using namespace tt_metal;
  using namespace tt_metal::detail;
  if (io_tensors.empty())
    fail("io_tensors is empty; expected at least the result");
  std::vector<metal::PagedTensor> tensors;
  for (size_t i = 0; i < io_tensors.size(); ++i) {
    if (!io_tensors[i])
      fail(at("io_tensors", i) + " is missing");
    tensors.emplace_back(io_tensors[i]);
  }
  const Device device = io_tensors.back().device();
  if (!device)
    fail(at("io_tensors", io_tensors.size() - 1) + " lies on the host; expected one on a device");
  metal::HostProgram program;
  program.name = "generic_op";
  for (size_t i = 0; i < program_descriptor.kernels.size(); ++i)
    program.kernels.push_back(kernelOf(program_descriptor.kernels[i], at("kernels", i)));
  std::vector<metal::CircularGroup> groups;
  for (size_t i = 0; i < program_descriptor.cbs.size(); ++i)
    groups.push_back(circular(program_descriptor.cbs[i], at("cbs", i)));
  for (size_t i = 0; i < program_descriptor.semaphores.size(); ++i) {
    const SemaphoreDescriptor &each = program_descriptor.semaphores[i];
    program.semaphores.push_back({each.id, each.initial_value, coresOf(each.core_ranges, at("semaphores", i))});
  }
  std::vector<uint32_t> chips(device->devices());
  std::iota(chips.begin(), chips.end(), 0u);
  (void)metal::runOnTensors(tensors, program, groups, chips);
  Trace::record(device, [=] { (void)metal::runOnTensors(tensors, program, groups, chips); });
  return io_tensors.back();
}
