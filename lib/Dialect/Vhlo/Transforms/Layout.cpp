//===- Layout.cpp - whether bytecode can be read safely -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "Layout.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/Endian.h"

#include <array>

using namespace llvm;
using namespace mlir::vhlo;

/// The number of low zero bits of the first byte is the number of bytes that follow; if no bit is set, eight follow.
std::optional<uint64_t> mlir::vhlo::takeVarInt(StringRef &bytes) {
  if (bytes.empty())
    return std::nullopt;
  const auto first = static_cast<unsigned char>(bytes.front());
  const size_t size = first == 0 ? 9 : llvm::countr_zero(first) + 1;
  if (bytes.size() < size)
    return std::nullopt;
  char whole[8] = {};
  StringRef digits = first == 0 ? bytes.substr(1, 8) : bytes.take_front(size);
  std::copy(digits.begin(), digits.end(), whole);
  bytes = bytes.drop_front(size);
  const uint64_t value = support::endian::read64le(whole);
  return first == 0 ? value : value >> size;
}

namespace {
enum Section { Strings, Dialects, Data, Offsets, Ir, Resources, ResourceOffsets, Versions, Properties, SectionCount };
using Sections = std::array<std::optional<StringRef>, SectionCount>;
} // namespace

/// Sections have an identifier, whose high bit states that an alignment follows their length.
static std::optional<std::string> findSections(StringRef file, StringRef rest, Sections &sections) {
  while (!rest.empty()) {
    const auto first = static_cast<unsigned char>(rest.front());
    const unsigned id = first & 0x7F;
    rest = rest.drop_front();
    std::optional<uint64_t> length = takeVarInt(rest);
    if (id >= SectionCount || !length)
      return "section " + std::to_string(id) + " is unknown or has no length";
    if (first & 0x80) {
      std::optional<uint64_t> alignment = takeVarInt(rest);
      if (!alignment || !has_single_bit(*alignment))
        return "section " + std::to_string(id) + " has no alignment, or one that is no power of two";
      const size_t used = file.size() - rest.size();
      if (*alignment > file.size())
        return "section " + std::to_string(id) + " has an alignment beyond the end of the file";
      rest = rest.drop_front(std::min<size_t>((*alignment - used % *alignment) % *alignment, rest.size()));
    }
    if (*length > rest.size())
      return "section " + std::to_string(id) + " has " + std::to_string(*length) + " bytes, of which " +
             std::to_string(rest.size()) + " are there";
    sections[id] = rest.take_front(*length);
    rest = rest.drop_front(*length);
  }
  return std::nullopt;
}

/// Attributes, then types, in groups by dialect: as many as the section states, with no more bytes than there are.
static std::optional<std::string> checkOffsets(StringRef offsets, size_t dataSize) {
  std::optional<uint64_t> counts[] = {takeVarInt(offsets), takeVarInt(offsets)};
  uint64_t total = 0;
  for (std::optional<uint64_t> count : counts) {
    if (!count || *count > offsets.size())
      return "there are more attributes and types than their table has bytes";
    for (uint64_t seen = 0; seen < *count;) {
      std::optional<uint64_t> dialect = takeVarInt(offsets), group = takeVarInt(offsets);
      if (!dialect || !group || *group == 0 || *group > *count - seen)
        return "a group of attributes or types has no size, or one beyond their number";
      seen += *group;
      for (uint64_t i = 0; i < *group; ++i) {
        std::optional<uint64_t> size = takeVarInt(offsets);
        if (!size || (*size >> 1) > dataSize - total)
          return "an attribute or type has no size, or one beyond the end of its section";
        total += *size >> 1;
      }
    }
  }
  return std::nullopt;
}

std::optional<std::string> mlir::vhlo::checkLayout(StringRef file) {
  StringRef rest = file.drop_front(std::min<size_t>(4, file.size()));
  const size_t end = takeVarInt(rest) ? rest.find('\0') : StringRef::npos;
  if (end == StringRef::npos)
    return "the file ends in its head";
  Sections sections;
  if (auto error = findSections(file, rest.drop_front(end + 1), sections))
    return error;
  for (Section section : {Strings, Dialects, Data, Offsets, Ir})
    if (!sections[section])
      return "section " + std::to_string(section) + " is missing";
  // Each string, dialect and value of properties takes a byte or more.
  for (Section section : {Strings, Dialects, Properties}) {
    StringRef counted = sections[section].value_or(StringRef("\1", 1));
    std::optional<uint64_t> count = takeVarInt(counted);
    if (!count || *count > counted.size())
      return "section " + std::to_string(section) + " has more entries than bytes";
  }
  return checkOffsets(*sections[Offsets], sections[Data]->size());
}
