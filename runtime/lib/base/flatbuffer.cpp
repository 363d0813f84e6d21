//===- flatbuffer.cpp - verification of untrusted flatbuffers -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "base/flatbuffer.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace tt::files {
namespace {

std::string systemError(const std::string &action, const std::string &path) {
  return "cannot " + action + " " + path + ": " + std::strerror(errno);
}

struct Descriptor {
  int fd;
  ~Descriptor() {
    if (fd >= 0)
      ::close(fd);
  }
};

} // namespace

std::shared_ptr<std::byte> mapFile(const std::string &path, bool writable, size_t &size) {
  const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  struct stat status;
  if (file.fd < 0 || ::fstat(file.fd, &status) != 0)
    throw BinaryError(systemError("open", path));
  if (!S_ISREG(status.st_mode))
    throw BinaryError("cannot read " + path + ": not a regular file");
  size = static_cast<size_t>(status.st_size);
  if (size == 0)
    throw BinaryError(path + ": is empty");
  void *data = ::mmap(nullptr, size, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (data == MAP_FAILED)
    throw BinaryError(systemError("map", path));
  return {static_cast<std::byte *>(data), [size](std::byte *pages) { ::munmap(pages, size); }};
}

void verifyPrefix(const std::string &name, std::span<const std::byte> bytes,
                  std::initializer_list<const char *> identifiers, const std::string &expected) {
  const auto fail = [&](const std::string &what) { throw BinaryError(name + ": " + what); };
  // The prefix, the root offset and the identifier.
  constexpr size_t smallest = 12;
  if (bytes.size() < smallest)
    fail("has " + std::to_string(bytes.size()) + " bytes; a flatbuffer has at least " + std::to_string(smallest));
  if (bytes.size() >= FLATBUFFERS_MAX_BUFFER_SIZE)
    fail("has " + std::to_string(bytes.size()) + " bytes; a flatbuffer has less than 2 GiB");
  const auto isIt = [&](const char *identifier) {
    return flatbuffers::BufferHasIdentifier(bytes.data(), identifier, true);
  };
  if (std::none_of(identifiers.begin(), identifiers.end(), isIt)) {
    std::string found(reinterpret_cast<const char *>(bytes.data()) + 8, 4);
    for (char &c : found)
      if (c < 32 || c > 126)
        c = '?';
    fail("file identifier is \"" + found + "\"; expected " + expected);
  }
  uint32_t size;
  std::memcpy(&size, bytes.data(), sizeof size);
  if (size != bytes.size() - sizeof size)
    fail("says it has " + std::to_string(size) + " bytes after the prefix, but has " +
         std::to_string(bytes.size() - sizeof size) + "; the file is truncated or was appended to");
}

std::string Place::where() const {
  std::string text = file + ": ";
  if (!program.empty())
    text += "program \"" + program + "\": ";
  if (!step.empty())
    text += step + ": ";
  return text;
}

void Place::fail(const std::string &field, const std::string &found, const std::string &expected) const {
  throw BinaryError(where() + field + " " + found + "; expected " + expected);
}

void Place::failIndex(const std::string &field, uint64_t found, size_t size, const char *what) const {
  fail(field, "is " + std::to_string(found), "an index below " + std::to_string(size) + " into the " + what);
}

void Place::spend(size_t count, const std::string &field, const char *what, const char *expected) const {
  items += count;
  if (items > budget)
    fail(field, "brings " + std::string(what) + " to more than " + std::to_string(budget) + " items", expected);
}

void Place::checkDimensions(const std::vector<int64_t> &dims, int bits, const std::string &field) const {
  int64_t product = 1;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] < 0)
      fail(field + "[" + std::to_string(i) + "]", "is " + std::to_string(dims[i]), "0 or more");
    // A zero must not hide dimensions whose product overflows.
    if (__builtin_mul_overflow(product, std::max<int64_t>(dims[i], 1), &product) || product > int64_t(1) << bits)
      fail(field, "is " + toString(dims), "at most 2^" + std::to_string(bits) + " elements");
  }
}

} // namespace tt::files
