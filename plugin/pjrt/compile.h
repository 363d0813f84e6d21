//===- compile.h - StableHLO to a program of the chip, in process -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "client.h"
#include "types.h"

#include <map>

namespace tt::pjrt {

/// An argument or result of the module's main function.
struct Slot {
  const TypeInfo *type = nullptr;
  std::vector<int64_t> dims; // of what one device holds
  std::string sharding;      // a message xla.OpSharding; empty in a program for one device
  MemoryKind memory = MemoryKind::Device;
  Order order;
};

struct Compiled {
  std::string name; // of the module
  std::vector<Slot> arguments, results;
  std::vector<uint32_t> donated; // arguments whose memory results may have
  std::string flatbuffer;
  std::string source; // the module as it was given
};

/// Returns the StableHLO text of the program that each of several devices runs. Throws PluginError.
std::string deviceProgram(const Compiled &compiled);

/// Throws PluginError with the compiler's diagnostics. Warnings go to stderr, each text once. `overrides` are options
/// of `ttir-to-ttnn-backend-pipeline`. A module for several `partitions` is split by its shardings. Without `places`,
/// the program does not depend on the lines of Python that it was written in.
Compiled compile(std::string_view code, std::string_view format, Arch arch, int64_t partitions,
                 const std::map<std::string, std::string> &overrides, bool places = true);

} // namespace tt::pjrt
