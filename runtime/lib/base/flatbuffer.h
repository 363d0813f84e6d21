//===- flatbuffer.h - verification of untrusted flatbuffers -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Functions shared by the readers of all kinds of files. A file has passed FlatBuffers' Verifier when its fields are
// read: every offset, vector and string is inside the file, and their meaning is still to be checked.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/types.h"

#include <flatbuffers/flatbuffers.h>

#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tt::files {

/// The maximum rank of a shape in a file.
inline constexpr size_t maxRank = 16;
// Struct and list attributes nest; a real one has three tables per level and at most a few levels.
inline constexpr uint32_t maxDepth = 64;
// A table in the file may be referred to many times; this bounds the time that a hostile file can take.
inline constexpr uint32_t maxTables = 1u << 22;
/// Values and tables may be shared in a file, so a small file can request much: the maximum number of items of the
/// programs of a file that has no more bytes.
inline constexpr size_t maxItems = size_t(1) << 24;

/// The pages of a nonempty regular file, which are freed with their last user. With `writable`, writing changes this
/// process's copy only. Throws BinaryError.
std::shared_ptr<std::byte> mapFile(const std::string &path, bool writable, size_t &size);

/// Checks that a file begins with a size, its own, and one of the identifiers. Throws BinaryError; `expected` ends the
/// message about the identifier.
void verifyPrefix(const std::string &name, std::span<const std::byte> bytes,
                  std::initializer_list<const char *> identifiers, const std::string &expected);

/// The root of a file that the Verifier accepts and that has the version of the schema. `kind`: "" or " of TTMetal";
/// `remedy`: what to do about another version. Throws BinaryError.
template <class Root>
const Root &verifiedRoot(const std::string &name, std::span<const std::byte> bytes, uint32_t version,
                         const std::string &kind = "",
                         const std::string &remedy = "compile it again with this version") {
  flatbuffers::Verifier verifier(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size(), maxDepth, maxTables);
  if (!verifier.VerifySizePrefixedBuffer<Root>(nullptr))
    throw BinaryError(name +
                      ": is damaged: the FlatBuffers verifier refuses it (an offset, string or vector leaves the file, "
                      "a required field is missing, or it is nested deeper than " +
                      std::to_string(maxDepth) + ")");
  const auto &root = *flatbuffers::GetSizePrefixedRoot<Root>(bytes.data());
  if (root.schema_version() != version)
    throw BinaryError(name + ": has schema version " + std::to_string(root.schema_version()) + kind +
                      ", but this runtime reads " + std::to_string(version) + "; " + remedy);
  return root;
}

inline std::string_view text(const flatbuffers::String *string) {
  return string ? std::string_view(string->c_str(), string->size()) : std::string_view();
}
template <class T> size_t count(const flatbuffers::Vector<T> *vector) { return vector ? vector->size() : 0; }

/// Numbers of a vector. The Verifier checks the alignment of a vector's length, not that of 8-byte elements.
template <class T> std::vector<T> numbers(const flatbuffers::Vector<T> *vector) {
  std::vector<T> result(count(vector));
  if (!result.empty())
    std::memcpy(result.data(), vector->Data(), result.size() * sizeof(T));
  return result;
}

/// States in which program and op or command of a file an error is.
struct Place {
  std::string file, program, step;
  size_t budget = maxItems; // of items
  mutable size_t items = 0;

  [[noreturn]] void fail(const std::string &field, const std::string &found, const std::string &expected) const;
  std::string where() const;
  [[noreturn]] void failIndex(const std::string &field, uint64_t found, size_t size, const char *what) const;
  /// Counts against the budget.
  void spend(size_t count, const std::string &field, const char *what = "the programs",
             const char *expected = "fewer") const;
  /// A required table.
  template <class T> const T &need(const T *table, const std::string &field) const {
    if (!table)
      fail(field, "is missing", "one");
    return *table;
  }
  /// The value of an enum that has `values` values from 0, and perhaps one more.
  template <class To, class From>
  To enumerator(From value, unsigned values, const std::string &field, unsigned extra = 0) const {
    const auto number = static_cast<unsigned>(value);
    if (number >= values && (!extra || number != extra))
      fail(field, "is " + std::to_string(number), "a value below " + std::to_string(values));
    return static_cast<To>(number);
  }
  DataType dataType(unsigned value, const std::string &field) const {
    return enumerator<DataType>(value, static_cast<unsigned>(DataType::Bool) + 1, field);
  }
  /// Sizes of a shape or grid: few, not negative, with a product of at most 2^`bits`.
  template <class T>
  std::vector<int64_t> dimensions(const flatbuffers::Vector<T> *dims, int bits, const std::string &field) const {
    if (count(dims) > maxRank)
      fail(field, "has " + std::to_string(dims->size()) + " dimensions", "at most " + std::to_string(maxRank));
    const std::vector<T> values = numbers(dims);
    std::vector<int64_t> result(values.begin(), values.end());
    checkDimensions(result, bits, field);
    return result;
  }

private:
  void checkDimensions(const std::vector<int64_t> &dims, int bits, const std::string &field) const;
};

} // namespace tt::files
