//===- call_key.h - a call as the key of a cache -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"
#include "tt/ttnn/kernel.h"

#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace tt::ttnn {

/// The operands and attributes of a call, as words: calls are equal if their words are. A thread has one at a time.
class CallKey {
public:
  /// Represents the values of constants by a hash.
  using Hash = std::array<uint64_t, 2> (*)(std::span<const std::byte>);
  /// hashOfConstants: where keys live longer than constants; otherwise constants are known by their address.
  explicit CallKey(Hash hashOfConstants = nullptr) : words(scratch()), hashOfConstants(hashOfConstants) {
    words.clear();
  }
  CallKey(const CallKey &) = delete;

  template <class T>
    requires std::is_arithmetic_v<T> || std::is_enum_v<T> || std::is_pointer_v<T>
  void add(T value) {
    uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof value); // floats, too: -0.0 is not 0.0, and a NaN is itself
    words.push_back(bits);
    mixed = (std::rotl(mixed, 23) ^ bits) * 0x9e3779b97f4a7c15u;
  }
  void add(std::string_view text) {
    add(text.size());
    while (!text.empty()) {
      uint64_t word = 0;
      const size_t bytes = std::min(text.size(), sizeof word);
      std::memcpy(&word, text.data(), bytes);
      add(word);
      text.remove_prefix(bytes);
    }
  }
  void add(const std::string &text) { add(std::string_view(text)); }
  template <class T> void add(const std::vector<T> &values) {
    add(values.size());
    for (const T &value : values)
      add(value);
  }
  template <class T> void add(const std::optional<T> &value) {
    add(value.has_value());
    if (value)
      add(*value);
  }
  void add(const MemoryConfig &memory) {
    add(memory.buffer);
    add(memory.layout);
    add(memory.grid);
    add(memory.shardShape);
    add(memory.cores.size());
    for (const auto &rectangle : memory.cores)
      for (int64_t corner : rectangle)
        add(corner);
    add(memory.byColumns);
  }
  void add(const TensorSpec &spec) {
    add(spec.dtype);
    add(spec.shape);
    add(spec.layout);
    add(spec.memory);
    add(spec.distributed);
  }
  void add(const ConstantAttribute &value) {
    add(value.bytes.size());
    if (!hashOfConstants)
      add(value.bytes.data());
    else
      for (const uint64_t word : hashOfConstants(value.bytes))
        add(word);
  }
  void add(const EnumAttribute &value) {
    add(value.value);
    add(value.symbol);
  }
  void add(const StructAttribute &value) {
    add(value.type);
    add(value.fields);
  }
  void add(const ListAttribute &value) { add(value.items); }
  void add(const NamedAttribute &attribute) {
    add(attribute.name);
    add(attribute.attribute);
  }
  void add(const Attribute &attribute) {
    add(attribute.value.index());
    std::visit([&](const auto &value) { add(value); }, attribute.value);
  }
  void add(const Attributes &attributes) {
    add(attributes.all().size());
    for (const NamedAttribute &attribute : attributes.all())
      add(attribute);
  }

  uint64_t hash() const { return mixed ^ mixed >> 32; }
  std::span<const uint64_t> value() const { return words; }

private:
  static std::vector<uint64_t> &scratch() {
    thread_local std::vector<uint64_t> words;
    return words;
  }
  std::vector<uint64_t> &words; // no allocation for each call
  const Hash hashOfConstants;
  uint64_t mixed = 0x243f6a8885a308d3u; // digits of pi: zeros count from the start
};

} // namespace tt::ttnn
