//===- wire.cpp - the little of Protocol Buffers that PJRT needs ----------===//
// SPDX-License-Identifier: Apache-2.0

#include "wire.h"
#include "common.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace tt::pjrt {
namespace {

struct Field {
  uint64_t number = 0;
  uint64_t value = 0;     // of a varint or a fixed size
  std::string_view bytes; // of a message or text
};

class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  bool next(Field &field) {
    if (rest.empty())
      return false;
    const uint64_t tag = varint();
    field = {};
    field.number = tag >> 3;
    switch (tag & 7) {
    case 0:
      field.value = varint();
      break;
    case 1:
      field.value = fixed(8);
      break;
    case 2:
      field.bytes = take(varint());
      break;
    case 5:
      field.value = fixed(4);
      break;
    default:
      bad();
    }
    return true;
  }
  bool empty() const { return rest.empty(); }
  uint64_t varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const auto byte = static_cast<uint8_t>(take(1)[0]);
      value |= uint64_t(byte & 0x7f) << shift;
      if (!(byte & 0x80))
        return value;
    }
    bad();
  }

private:
  [[noreturn]] static void bad() { invalid("compile options are no message of XLA"); }
  std::string_view take(uint64_t count) {
    if (count > rest.size())
      bad();
    const std::string_view found = rest.substr(0, count);
    rest.remove_prefix(count);
    return found;
  }
  uint64_t fixed(size_t size) {
    uint64_t value = 0;
    std::memcpy(&value, take(size).data(), size);
    return value;
  }
  std::string_view rest;
};

/// Each field of a message.
template <class F> void eachField(std::string_view message, F &&f) {
  Reader reader(message);
  for (Field field; reader.next(field);)
    f(field);
}

/// An override's value as text: text, boolean, integer or float.
std::string overrideText(std::string_view message) {
  std::string text;
  eachField(message, [&](const Field &field) {
    if (field.number == 1)
      text = field.bytes;
    else if (field.number == 2)
      text = field.value ? "true" : "false";
    else if (field.number == 3)
      text = std::to_string(static_cast<int64_t>(field.value));
    else if (field.number == 4) {
      double value;
      std::memcpy(&value, &field.value, sizeof value);
      char number[32];
      std::snprintf(number, sizeof number, "%.17g", value);
      text = number;
    }
  });
  return text;
}

std::vector<int64_t> assignment(std::string_view message, int64_t replicas, int64_t partitions) {
  std::vector<std::vector<int64_t>> byPartition;
  eachField(message, [&](const Field &field) {
    if (field.number != 3)
      return;
    auto &ids = byPartition.emplace_back();
    eachField(field.bytes, [&](const Field &inner) {
      if (inner.number != 1)
        return;
      if (inner.bytes.empty())
        return ids.push_back(static_cast<int64_t>(inner.value));
      for (Reader packed(inner.bytes); !packed.empty();)
        ids.push_back(static_cast<int64_t>(packed.varint()));
    });
  });
  std::vector<int64_t> devices;
  for (int64_t replica = 0; replica < replicas; ++replica)
    for (int64_t partition = 0; partition < partitions; ++partition) {
      if (static_cast<size_t>(partition) >= byPartition.size() ||
          static_cast<size_t>(replica) >= byPartition[partition].size())
        invalid("the device assignment has no device for replica " + std::to_string(replica) + ", partition " +
                std::to_string(partition));
      devices.push_back(byPartition[partition][replica]);
    }
  return devices;
}

void putVarint(std::string &to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to += static_cast<char>(value | 0x80);
  to += static_cast<char>(value);
}

} // namespace

CompileOptions CompileOptions::parse(std::string_view bytes) {
  CompileOptions options;
  std::string_view devices;
  int64_t ordinal = -1;
  eachField(bytes, [&](const Field &field) {
    if (field.number == 3)
      eachField(field.bytes, [&](const Field &inner) {
        if (inner.number == 1)
          ordinal = static_cast<int64_t>(inner.value);
        else if (inner.number == 4)
          options.replicas = std::max<int64_t>(1, static_cast<int64_t>(inner.value));
        else if (inner.number == 5)
          options.partitions = std::max<int64_t>(1, static_cast<int64_t>(inner.value));
        else if (inner.number == 9)
          devices = inner.bytes;
      });
    else if (field.number == 4)
      options.portable = field.value != 0;
    else if (field.number == 7) {
      std::string key, value;
      eachField(field.bytes, [&](const Field &inner) {
        if (inner.number == 1)
          key = inner.bytes;
        else if (inner.number == 2)
          value = overrideText(inner.bytes);
      });
      options.overrides[key] = value;
    }
  });
  if (!devices.empty())
    options.devices = assignment(devices, options.replicas, options.partitions);
  else if (!options.portable && ordinal >= 0)
    options.devices = {ordinal};
  return options;
}

Message &Message::number(uint32_t field, uint64_t value) {
  putVarint(written, uint64_t(field) << 3);
  putVarint(written, value);
  return *this;
}

Message &Message::text(uint32_t field, std::string_view value) {
  putVarint(written, uint64_t(field) << 3 | 2);
  putVarint(written, value.size());
  written += value;
  return *this;
}

Message &Message::append(const Message &other) {
  written += other.written;
  return *this;
}

std::string serializeAssignment(int64_t replicas, int64_t partitions, const std::vector<int64_t> &devices) {
  std::string message;
  const auto put = [&](char tag, uint64_t value) { message += tag, putVarint(message, value); };
  put(0x08, static_cast<uint64_t>(replicas));
  put(0x10, static_cast<uint64_t>(partitions));
  for (int64_t partition = 0; partition < partitions; ++partition) {
    std::string ids;
    for (int64_t replica = 0; replica < replicas; ++replica)
      putVarint(ids, static_cast<uint64_t>(devices[static_cast<size_t>(replica * partitions + partition)]));
    std::string inner = "\x0a";
    putVarint(inner, ids.size());
    inner += ids;
    put(0x1a, inner.size());
    message += inner;
  }
  return message;
}

} // namespace tt::pjrt
