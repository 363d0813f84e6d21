//===- executable.h - a compiled program of JAX -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "buffer.h"
#include "compile.h"
#include "tt/runtime/runtime.h"
#include "wire.h"

namespace tt::pjrt {

/// The part of a program that does not depend on where it runs. Immutable.
struct Program {
  Compiled compiled;
  CompileOptions options;
  std::string optionBytes; // as JAX gave them
  Arch arch = Arch::None;
  runtime::Binary binary;
  size_t main = 0; // of the binary's programs
  std::string fingerprint;
  // The results' types and shapes in the form that PJRT requests.
  std::vector<PJRT_Buffer_Type> types;
  std::vector<int64_t> dims;
  std::vector<size_t> ranks;
  std::vector<const char *> memoryKinds;
  std::vector<size_t> memoryKindSizes;
  std::vector<const void *> argumentLayouts, resultLayouts;
  /// Messages xla.OpSharding; none in a program for one device.
  struct Shardings {
    std::vector<const char *> bytes;
    std::vector<size_t> sizes;
  } argumentShardings, resultShardings;

  /// Rows and columns of the mesh that it runs on.
  sim::MeshOptions mesh() const;
  /// Returns the cost of a run, computed on the first request.
  const runtime::RunReport &cost() const;
  const std::vector<PJRT_NamedValue> &properties() const;
  /// Returns the program of each device in StableHLO, built on the first request.
  const std::string &text() const;

private:
  mutable std::once_flag estimated, listed, written;
  mutable std::string ofDevice;
  mutable runtime::RunReport report;
  mutable std::vector<PJRT_NamedValue> values;
};
using ProgramPtr = std::shared_ptr<const Program>;

/// Compiles and loads. Throws PluginError.
ProgramPtr makeProgram(const PJRT_Program &program, std::string_view options, const PJRT_TopologyDescription &topology);

std::string serialize(const Program &program);
/// Throws PluginError for bytes of another version, or damaged ones.
ProgramPtr deserialize(std::string_view bytes, std::string_view overriddenOptions);
/// Derives the rest of a program from its parts. Throws Error for a flatbuffer that does not load.
ProgramPtr finish(std::shared_ptr<Program> program);

} // namespace tt::pjrt

struct PJRT_Executable {
  tt::pjrt::ProgramPtr program;
};

struct PJRT_LoadedExecutable {
  PJRT_Client *client = nullptr;
  tt::pjrt::ProgramPtr program;
  std::vector<PJRT_Device *> devices; // by partition, or none when the program runs on any
  std::vector<PJRT_Device *> own;     // those of this process
  std::vector<uint32_t> members;      // the processes that have the devices, if there are several
  std::string assignment;
  bool deleted = false;
};
