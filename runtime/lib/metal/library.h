//===- library.h - the kernels of a binary, compiled --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/metal/image.h"
#include "metal/core.h"
#include "tt/metal/kernel_abi.h"

#include <algorithm>
#include <filesystem>

namespace tt::metal {

/// All kernels of a binary as one C++ program, each in its own namespace with its own arguments.
struct KernelSources {
  std::string text;
  std::vector<std::string> names;   // by entry: how the compiler's messages name the kernel's source
  std::vector<std::string> kernels; // their sources
  std::vector<bool> alone;          // which of them stay on their core
};
/// Whether a kernel reaches nothing but the memory of its own core: it has none of the functions that do otherwise, and
/// nothing that could hide one. A kernel that stays may be taken for one that does not.
bool staysOnCore(std::string_view source);
KernelSources kernelSources(std::span<const Kernel *const> entries);

/// The functions that kernels call, see api.cpp.
const KernelApi &kernelApi();

/// The command of the C++ compiler: $CXX, or the first of c++, g++ and clang++ in PATH. Throws Error that states what
/// to install.
std::vector<std::string> compilerCommand();
/// The folder that has tt/metal/kernel_api.h. Throws Error.
std::filesystem::path kernelIncludes();

/// A loaded library of kernels.
class CompiledKernels {
public:
  /// Loads the library from the user's cache, or compiles it. Throws BinaryError that names the kernel that does not
  /// compile and the reason, Error if there is no compiler or the cache cannot be written.
  CompiledKernels(const KernelSources &sources, const std::string &file);
  CompiledKernels(const CompiledKernels &) = delete;
  CompiledKernels &operator=(const CompiledKernels &) = delete;
  ~CompiledKernels();
  void (*entry(uint32_t index) const)() { return library->entries[index]; }
  /// Whether all kernels of the program stay on their cores.
  bool alone(const EnqueueProgram &program) const {
    return std::ranges::all_of(program.kernels, [&](const Kernel &kernel) { return staying[kernel.entry]; });
  }

private:
  const std::vector<bool> staying; // by entry
  void *handle = nullptr;
  const KernelLibrary *library = nullptr;
};

/// The compiled kernels of a program written by hand.
class ProgramKernels {
public:
  /// entries: in the library, by kernel of the program.
  ProgramKernels(std::shared_ptr<const CompiledKernels> library, std::vector<uint32_t> entries)
      : library(std::move(library)), entries(std::move(entries)) {}
  void (*entry(uint32_t kernel) const)() { return library->entry(entries[kernel]); }

private:
  const std::shared_ptr<const CompiledKernels> library;
  const std::vector<uint32_t> entries;
};

/// The kernels of programs written by hand as one C++ program.
struct JoinedPrograms {
  KernelSources sources;
  std::vector<std::vector<uint32_t>> entries; // by program and kernel
};
JoinedPrograms joinedPrograms(std::span<const HostProgram *const> programs);

/// Programs that are prepared together: the first one that runs has the kernels of all compiled.
class ProgramBatch {
public:
  /// Adds a program and returns its number. isAllowed: whether its kernels may be compiled before it runs itself.
  size_t add(std::shared_ptr<const HostProgram> program, std::function<bool()> isAllowed);
  /// The kernels of a program, which may be compiled. Throws what CompiledKernels throws for this program alone.
  std::shared_ptr<const ProgramKernels> kernels(size_t number);

private:
  struct Member {
    std::shared_ptr<const HostProgram> program;
    std::function<bool()> isAllowed;
    std::shared_ptr<const ProgramKernels> kernels = nullptr; // once they are compiled
  };
  void compile(const std::vector<Member *> &chosen);

  ForkAware<std::mutex> mutex;
  std::vector<Member> members;
  bool isTogether = true; // until a kernel does not compile
};

/// The state that is kept with a binary.
struct Kept {
  ForkAware<std::mutex> mutex;
  std::shared_ptr<const CompiledKernels> compiled;
  std::set<std::string> roundedOnly; // of the last run on an exact device, see tt/metal/exact.h
  // Memories of the chips of earlier runs: their pages are there already.
  std::vector<std::unique_ptr<L1>> l1, oneCore;
  std::vector<std::unique_ptr<Dram>> dram;
};

/// The kernels of an image, compiled on the first request. Throws OpError if they are not allowed.
std::shared_ptr<const CompiledKernels> compiledKernels(runtime::BinaryImage &image);

} // namespace tt::metal
