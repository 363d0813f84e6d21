//===- checker.h - where in a file something is wrong -------------*- C++ -*-===//
#pragma once

#include "binary/metal/program.h"

#include <flatbuffers/flatbuffers.h>
#include <metal_generated.h>

namespace tt::metal {

namespace fb = target::metal;

/// More of anything is no real program; below, no sum or product of sizes overflows.
inline constexpr size_t maxRank = 16, maxCommands = 1 << 20, maxArguments = 1 << 12, maxRanges = 1 << 12,
                        maxItems = 1 << 24;
inline constexpr int64_t maxElements = int64_t(1) << 40;

/// Says in which program and command of a file something is wrong.
struct Place {
  std::string file, program, command;
  mutable size_t items = 0;

  [[noreturn]] void fail(const std::string &field, const std::string &found, const std::string &expected) const {
    std::string text = file + ": ";
    if (!program.empty())
      text += "program \"" + program + "\": ";
    if (!command.empty())
      text += command + ": ";
    throw BinaryError(text + field + " " + found + "; expected " + expected);
  }
  /// Tables may be shared in a file, so that a small one can ask for much: this bounds all of it together.
  void spend(size_t count, const std::string &field) const {
    items += count;
    if (items > maxItems)
      fail(field, "brings the program to more than " + std::to_string(maxItems) + " items", "fewer");
  }
  /// A table that must be there.
  template <class T> const T &need(const T *table, const std::string &field) const {
    if (!table)
      fail(field, "is missing", "one");
    return *table;
  }
};

inline std::string_view text(const flatbuffers::String *string) {
  return string ? std::string_view(string->c_str(), string->size()) : std::string_view();
}
template <class T> size_t count(const flatbuffers::Vector<T> *vector) { return vector ? vector->size() : 0; }

/// Shapes, types and places of buffers; what it throws names the field.
class BufferChecker {
public:
  BufferChecker(const Place &place, const sim::ChipDesc &chip) : place(place), chip(chip) {}

  Shape shape(const flatbuffers::Vector<int32_t> *dims, const std::string &field) const;
  DataType dataType(target::DataType type, const std::string &field) const;
  /// Cores of ranges, in row-major order of each range.
  Cores cores(const flatbuffers::Vector<const fb::Dim2dRange *> *ranges, const std::string &field) const;
  Buffer buffer(const fb::BufferRef &ref, const std::string &field) const;

private:
  void hostBuffer(const fb::BufferDesc &desc, Buffer &buffer, const std::string &field) const;
  void deviceBuffer(const fb::BufferRef &ref, Buffer &buffer, const std::string &field) const;
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
