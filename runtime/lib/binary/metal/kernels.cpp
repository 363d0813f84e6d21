//===- kernels.cpp - checks of kernels in a file --------------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "binary/metal/checker.h"
#include "binary/metal/image.h"
#include "core/native_code.h"
#include "ttmlir/Target/TTNN/Schema.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tt::metal {

Kernel KernelChecker::kernel(const fb::KernelConfig &from, const EnqueueProgram &command) const {
  Kernel to;
  to.symbol = text(from.symbol());
  if (to.symbol.empty())
    place.fail("symbol", "is empty", "the kernel's name");
  if (from.kernel_type() != fb::Kernel::KernelSource || !from.kernel() || !from.kernel_as_KernelSource()->source())
    place.fail("kernel", "has no source", "C++ source");
  to.source = text(from.kernel_as_KernelSource()->source());
  // Counts in the budget of all shared data: sources are joined to one program.
  place.spend(to.source.size(), "kernel");
  to.cores = BufferChecker(place, chip).cores(from.core_range_set(), "core_range_set");
  if (from.type_type() == fb::KernelConfigType::ComputeConfig && from.type()) {
    const auto &config = *from.type_as_ComputeConfig();
    to.compute = true;
    to.f32Dst = config.fp32_dest_acc_en();
    to.fullDst = config.dst_full_sync_en();
    to.approximate = config.math_approx_mode();
    const auto *modes = config.unpack_to_dest_mode();
    if (count(modes) > maxPorts)
      place.fail("unpack_to_dest_mode", "has " + std::to_string(modes->size()) + " entries",
                 "at most " + std::to_string(maxPorts));
    for (uint32_t port = 0; port < count(modes); ++port)
      to.f32Ports |= uint32_t(modes->Get(port) == fb::UnpackToDestMode::Fp32) << port;
    to.fidelityPhases =
        config.math_fidelity() == fb::MathFidelity::LoFi ? 1 : std::clamp(int(config.math_fidelity()), 1, 4);
  } else if (from.type_type() == fb::KernelConfigType::NocConfig && from.type()) {
    to.noc = static_cast<uint32_t>(from.type_as_NocConfig()->noc_index()) & 1;
  } else {
    place.fail("type", "is missing", "NocConfig or ComputeConfig");
  }
  if (const auto *args = from.args()) {
    to.compileTimeArgs = arguments(args->ct_args(), command, "ct_args");
    to.runtimeArgs = arguments(args->rt_args(), command, "rt_args");
  }
  return to;
}

std::vector<uint32_t> KernelChecker::arguments(const flatbuffers::Vector<flatbuffers::Offset<fb::KernelArg>> *from,
                                               const EnqueueProgram &command, const std::string &which) const {
  if (count(from) > maxArguments)
    place.fail(which, "has " + std::to_string(from->size()) + " entries", "at most " + std::to_string(maxArguments));
  place.spend(count(from), which);
  std::vector<uint32_t> to;
  for (uint32_t i = 0; i < count(from); ++i) {
    const fb::KernelArg &arg = *from->Get(i);
    const std::string field = which + "[" + std::to_string(i) + "]";
    const auto index = [&](uint32_t operand, size_t size, const char *what) {
      if (operand >= size)
        place.fail(field + ".operand_idx", "is " + std::to_string(operand),
                   "an index below " + std::to_string(size) + " into the " + what);
      return operand;
    };
    if (!arg.arg())
      place.fail(field, "has no value", "an argument");
    switch (arg.arg_type()) {
    case fb::KernelArgType::KernelArgCBPort:
      to.push_back(command.rings[index(arg.arg_as_KernelArgCBPort()->operand_idx(), command.rings.size(), "cbs")].port);
      break;
    case fb::KernelArgType::KernelArgBufferAddress:
      to.push_back(buffers[command.buffers[index(arg.arg_as_KernelArgBufferAddress()->operand_idx(),
                                                 command.buffers.size(), "arg_refs")]]
                       .address);
      break;
    case fb::KernelArgType::KernelArgTensorAccessorArgs: {
      const Buffer &buffer = buffers[command.buffers[index(arg.arg_as_KernelArgTensorAccessorArgs()->operand_idx(),
                                                           command.buffers.size(), "arg_refs")]];
      if (!buffer.inDram)
        place.fail(field + ".operand_idx", "is a buffer in L1", "one in DRAM, whose pages a TensorAccessor finds");
      to.push_back(2); // in DRAM, interleaved
      to.push_back(buffer.bytesPerCore);
      break;
    }
    case fb::KernelArgType::KernelArgNamedArgument:
      to.push_back(arg.arg_as_KernelArgNamedArgument()->value());
      break;
    default:
      place.fail(field, "has type " + std::to_string(static_cast<unsigned>(arg.arg_type())), "one of the schema");
    }
  }
  return to;
}

void numberKernels(std::span<Kernel *const> kernels, std::vector<const Kernel *> &entries) {
  std::map<std::tuple<std::string_view, std::vector<uint32_t>, bool, uint32_t>, uint32_t> numbers;
  for (Kernel *kernel : kernels) {
    const auto [found, isNew] = numbers.try_emplace(
        {kernel->source, kernel->compileTimeArgs, kernel->compute, kernel->noc}, static_cast<uint32_t>(entries.size()));
    kernel->entry = found->second;
    if (isNew)
      entries.push_back(kernel);
  }
}

std::string codeOf(const Image &image) {
  std::string code = "kernels in C++\n";
  for (const Kernel *kernel : image.entries) {
    for (uint32_t argument : kernel->compileTimeArgs)
      code += std::to_string(argument) + ",";
    code += std::to_string(kernel->compute) + "," + std::to_string(kernel->noc) + "," +
            std::to_string(kernel->symbol.size()) + "," + std::to_string(kernel->source.size()) + "\n";
    code += kernel->symbol;
    code += kernel->source;
  }
  return code;
}

void allowKernels(const Image &image) {
  const std::string code = codeOf(image);
  const uint64_t hash = target::hashOfCode(code.data(), code.size());
  ttnn::addNativeCode(hash, std::as_bytes(std::span(code)), "the compiler of kernels");
  ttnn::allowNativeCode(hash);
}

void requireAllowed(const runtime::BinaryImage &image) {
  const std::string code = codeOf(*image.metal);
  if (!ttnn::isNativeCodeAllowed(target::hashOfCode(code.data(), code.size()), std::as_bytes(std::span(code))))
    throw OpError(
        image.name +
        ": its kernels are C++ code, which can do anything that this process may once it is compiled; load the "
        "file with allow_native (ttrt run --allow-native) if you trust where it comes from");
}

} // namespace tt::metal
