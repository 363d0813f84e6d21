//===- archive.h - the members of a ZIP file ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>

struct zip;

namespace tt::backend {

/// Memory whose owner frees it.
struct Bytes {
  std::shared_ptr<std::byte> data; // aligned to 64
  size_t size = 0;
  std::span<const std::byte> span() const { return {data.get(), size}; }
  std::string text() const { return {reinterpret_cast<const char *>(data.get()), size}; }
};

/// An untrusted file: sizes are checked before memory is allocated, and contents by their checksums. Errors are
/// tt::Error and name the file.
class Archive {
public:
  explicit Archive(const std::string &path);

  const std::string &path() const { return file; }
  bool has(const std::string &name) const { return members.contains(name); }
  /// Bytes of a member.
  uint64_t size(const std::string &name) const { return members.at(name).size; }
  Bytes read(const std::string &name) const;

private:
  struct Member {
    uint64_t index = 0, size = 0;
  };
  [[noreturn]] void fail(const std::string &why) const;

  std::string file;
  std::shared_ptr<zip> archive;
  std::map<std::string, Member> members;
};

} // namespace tt::backend
