//===- checker.h - buffers and kernels of a file, checked ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/flatbuffer.h"
#include "binary/metal/program.h"

#include <metal_generated.h>

namespace tt::metal {

namespace fb = target::metal;

using files::count;
using files::Place;
using files::text;

/// Limits that no real program exceeds; below them, no sum or product of sizes overflows.
inline constexpr size_t maxCommands = 1 << 20, maxArguments = 1 << 12, maxRanges = 1 << 12;
inline constexpr int elementBits = 40;

/// Shapes, types and places of buffers; errors name the field.
class BufferChecker {
public:
  BufferChecker(const Place &place, const sim::ChipDesc &chip) : place(place), chip(chip) {}

  Shape shape(const flatbuffers::Vector<int32_t> *dims, const std::string &field) const {
    return place.dimensions(dims, elementBits, field);
  }
  DataType dataType(target::DataType type, const std::string &field) const {
    return place.dataType(static_cast<unsigned>(type), field);
  }
  /// Cores of ranges, in row-major order of each range.
  Cores cores(const flatbuffers::Vector<const fb::Dim2dRange *> *ranges, const std::string &field) const;
  Buffer buffer(const fb::BufferRef &ref, const std::string &field) const;

private:
  void hostBuffer(const fb::BufferDesc &desc, Buffer &buffer, const std::string &field) const;
  void deviceBuffer(const fb::BufferRef &ref, Buffer &buffer, const std::string &field) const;
  void dramBuffer(const fb::BufferRef &ref, Buffer &buffer, uint64_t bytes, const std::string &field) const;
  void shards(const fb::ShardedBufferConfig &config, Buffer &buffer, const std::string &field) const;
  RingDesc ring(const fb::CircularBufferConfig &config, const Buffer &buffer, const std::string &field) const;

  const Place &place;
  const sim::ChipDesc &chip;
};

/// Kernels of a command whose buffers and circular buffers are known.
class KernelChecker {
public:
  KernelChecker(const Place &place, const sim::ChipDesc &chip, const std::vector<Buffer> &buffers)
      : place(place), chip(chip), buffers(buffers) {}
  Kernel kernel(const fb::KernelConfig &from, const EnqueueProgram &command) const;

private:
  std::vector<uint32_t> arguments(const flatbuffers::Vector<flatbuffers::Offset<fb::KernelArg>> *from,
                                  const EnqueueProgram &command, const std::string &which) const;
  const Place &place;
  const sim::ChipDesc &chip;
  const std::vector<Buffer> &buffers; // of the program
};

} // namespace tt::metal
