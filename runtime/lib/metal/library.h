//===- library.h - the kernels of a binary, compiled --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/metal/image.h"
#include "metal/core.h"
#include "tt/metal/kernel_abi.h"

#include <filesystem>

namespace tt::metal {

/// All kernels of a binary as one C++ program, each in its own namespace with its own arguments.
struct KernelSources {
  std::string text;
  std::vector<std::string> names;   // by entry: how the compiler's messages name the kernel's source
  std::vector<std::string> kernels; // their sources
};
KernelSources kernelSources(std::span<const Kernel *const> entries);

/// The functions that kernels call, see api.cpp.
const KernelApi &kernelApi();

/// The command of the C++ compiler: $CXX, or the first of c++, g++ and clang++ in PATH. Throws Error that states what
/// to install.
std::vector<std::string> compilerCommand();
/// The folder that has tt/metal/kernel_api.h. Throws Error.
std::filesystem::path kernelIncludes();
/// The shared library of the sources: from the user's cache, or compiled. Throws BinaryError that names the kernel that
/// does not compile and the reason, Error if there is no compiler or the cache cannot be written.
std::filesystem::path compiledLibrary(const KernelSources &sources, const std::string &file);

/// A loaded library of kernels.
class CompiledKernels {
public:
  explicit CompiledKernels(const std::filesystem::path &path, size_t count);
  CompiledKernels(const CompiledKernels &) = delete;
  CompiledKernels &operator=(const CompiledKernels &) = delete;
  ~CompiledKernels();
  void (*entry(uint32_t index) const)() { return library->entries[index]; }

private:
  void *handle = nullptr;
  const KernelLibrary *library = nullptr;
};

/// The state that is kept with a binary.
struct Kept {
  ForkAware<std::mutex> mutex;
  std::shared_ptr<const CompiledKernels> compiled;
  std::set<std::string> roundedOnly; // of the last run on an exact device, see tt/metal/exact.h
  // Memories of the chips of earlier runs: their pages are there already.
  std::vector<std::unique_ptr<L1>> l1;
  std::vector<std::unique_ptr<Dram>> dram;
};

/// The kernels of an image, compiled on the first request. Throws OpError if they are not allowed.
std::shared_ptr<const CompiledKernels> compiledKernels(runtime::BinaryImage &image);

} // namespace tt::metal
