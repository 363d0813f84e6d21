//===- wire.h - the little of Protocol Buffers that PJRT needs ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// JAX passes compile options as a serialized message (CompileOptionsProto of XLA). A few of its many fields are read
// here, by their numbers.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tt::pjrt {

struct CompileOptions {
  int64_t replicas = 1, partitions = 1;
  std::vector<int64_t> devices; // by replica, then partition; empty when the program is for any device
  bool portable = false;
  std::map<std::string, std::string> overrides; // jax.jit(..., compiler_options={...})

  /// Throws PluginError for bytes that are no message.
  static CompileOptions parse(std::string_view bytes);
};

/// A message to write.
class Message {
public:
  Message &number(uint32_t field, uint64_t value);
  Message &text(uint32_t field, std::string_view value);
  Message &message(uint32_t field, const Message &value) { return text(field, value.written); }
  /// The fields of another one, after those of this one.
  Message &append(const Message &other);
  const std::string &bytes() const { return written; }

private:
  std::string written;
};

/// A device assignment as JAX reads it.
std::string serializeAssignment(int64_t replicas, int64_t partitions, const std::vector<int64_t> &devices);

} // namespace tt::pjrt
