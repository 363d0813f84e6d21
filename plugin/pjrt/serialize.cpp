//===- serialize.cpp - compiled programs as bytes -------------------------===//
// SPDX-License-Identifier: Apache-2.0
//
// For JAX's compilation cache. The version that wrote the bytes reads them; the flatbuffer in them is checked like
// every flatbuffer.
//
//===----------------------------------------------------------------------===//

#include "executable.h"

#include <cstring>

namespace tt::pjrt {
namespace {

constexpr std::string_view magic = "TTPJRT03";

struct Writer {
  std::string bytes{magic};
  void number(uint64_t value) { bytes.append(reinterpret_cast<const char *>(&value), sizeof value); }
  void text(std::string_view value) {
    number(value.size());
    bytes += value;
  }
  void slots(const std::vector<Slot> &slots) {
    number(slots.size());
    for (const Slot &slot : slots) {
      number(slot.type->type);
      number(slot.dims.size());
      for (int64_t dim : slot.dims)
        number(static_cast<uint64_t>(dim));
      text(slot.sharding);
      number(static_cast<uint64_t>(slot.memory));
      number(slot.order.size());
      for (int64_t dim : slot.order)
        number(static_cast<uint64_t>(dim));
    }
  }
};

struct Reader {
  std::string_view rest;
  std::string_view take(uint64_t size) {
    if (size > rest.size())
      throw PluginError(PJRT_Error_Code_DATA_LOSS, "a serialised program of tt is cut off: " + std::to_string(size) +
                                                       " bytes are needed and " + std::to_string(rest.size()) +
                                                       " are left");
    const std::string_view found = rest.substr(0, size);
    rest.remove_prefix(size);
    return found;
  }
  uint64_t number() {
    uint64_t value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(take(number())); }
  /// Reads the count of rows of at least 8 bytes each.
  uint64_t count() {
    const uint64_t value = number();
    if (value > rest.size() / sizeof(uint64_t))
      take(rest.size() + 1);
    return value;
  }
  std::vector<Slot> slots() {
    std::vector<Slot> slots(count());
    for (Slot &slot : slots) {
      slot.type = &typeInfo(static_cast<PJRT_Buffer_Type>(number()));
      slot.dims.resize(count());
      for (int64_t &dim : slot.dims)
        dim = static_cast<int64_t>(number());
      (void)elementCount(slot.dims);
      slot.sharding = text();
      const uint64_t memory = number();
      if (memory >= memoryKindNames.size())
        invalid("a serialised program has memory kind " + std::to_string(memory) + ", which is not known");
      slot.memory = static_cast<MemoryKind>(memory);
      slot.order.resize(count());
      for (int64_t &dim : slot.order)
        dim = static_cast<int64_t>(number());
      if (!slot.order.empty() && slot.order.size() != slot.dims.size())
        invalid("a serialised program orders " + std::to_string(slot.order.size()) + " dimensions of " +
                shapeText(*slot.type, slot.dims));
      (void)orderStrides(slot.order, *slot.type, slot.dims);
    }
    return slots;
  }
};

} // namespace

std::string serialize(const Program &program) {
  Writer writer;
  const Compiled &compiled = program.compiled;
  for (std::string_view text :
       {std::string_view(platformVersion()), std::string_view(compiled.name), std::string_view(program.optionBytes),
        std::string_view(compiled.source), std::string_view(compiled.flatbuffer)})
    writer.text(text);
  writer.number(static_cast<uint64_t>(program.arch));
  writer.slots(compiled.arguments);
  writer.slots(compiled.results);
  writer.number(compiled.donated.size());
  for (uint32_t donated : compiled.donated)
    writer.number(donated);
  return std::move(writer.bytes);
}

ProgramPtr deserialize(std::string_view bytes, std::string_view overriddenOptions) {
  if (!bytes.starts_with(magic))
    invalid("the bytes are no serialised program of tt");
  Reader reader{bytes.substr(magic.size())};
  const std::string version = reader.text();
  if (version != platformVersion())
    throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                      "the program was serialised by " + version + ", and this is " + platformVersion());
  auto program = std::make_shared<Program>();
  Compiled &compiled = program->compiled;
  compiled.name = reader.text();
  program->optionBytes = reader.text();
  if (!overriddenOptions.empty())
    program->optionBytes = overriddenOptions;
  program->options = CompileOptions::parse(program->optionBytes);
  compiled.source = reader.text();
  compiled.flatbuffer = reader.text();
  const uint64_t arch = reader.number();
  if (arch != static_cast<uint64_t>(Arch::WormholeB0) && arch != static_cast<uint64_t>(Arch::Blackhole))
    invalid("the serialised program " + compiled.name + " is for chip " + std::to_string(arch) +
            ", which is not known");
  program->arch = static_cast<Arch>(arch);
  compiled.arguments = reader.slots();
  compiled.results = reader.slots();
  compiled.donated.resize(reader.count());
  for (uint32_t &donated : compiled.donated) {
    donated = static_cast<uint32_t>(reader.number());
    if (donated >= compiled.arguments.size())
      invalid("the serialised program " + compiled.name + " donates argument " + std::to_string(donated) + " of " +
              std::to_string(compiled.arguments.size()));
  }
  return finish(std::move(program));
}

} // namespace tt::pjrt
