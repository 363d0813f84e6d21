//===- image.h - the contents of a loaded binary -----------------*- C++ -*-===//
#pragma once

#include "tt/fork.h"
#include "tt/runtime/binary.h"

#include <binary_generated.h>
#include <deque>
#include <list>
#include <mutex>

namespace tt::metal {
struct Image;
}

namespace tt::runtime {

class Executable;

/// Programs prepared for a device, kept with the binary they came from: they go when the binary goes.
class ExecutableCache {
public:
  ExecutableCache();
  ~ExecutableCache();
  struct Entry;
  ForkAware<std::mutex> mutex;
  std::list<Entry> entries;
};

class BinaryImage {
public:
  BinaryImage(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);

  bool holds(std::span<const std::byte> values) const {
    return !values.empty() && values.data() >= bytes.data() && values.size() <= bytes.size() &&
           static_cast<size_t>(values.data() - bytes.data()) <= bytes.size() - values.size();
  }
  /// Lets go of the pages of a mapped file that hold values. Whoever needs them again (an embedding that shares its
  /// table with a product) reads them again, so it may be more than the values.
  void release(std::span<const std::byte> values) const;
  /// The same for all that was read to load the file or to prepare a program.
  void settle() const;

  const std::string name; // of the file, for messages
  const uint64_t id;
  const std::span<const std::byte> bytes;
  const std::shared_ptr<const void> owner;
  bool isMapped = false;                      // pages of a file, which can be given back and read again
  const target::Binary *root = nullptr;       // of a TTNN file
  std::shared_ptr<metal::Image> metal;        // of a TTMetal file
  const target::Version *version = nullptr;   // of the compiler; may be missing
  const target::SystemDesc *system = nullptr; // may be missing
  uint32_t schemaVersion = 0;
  std::string_view mlir;

  SystemDesc systemDesc;
  std::vector<TensorSpec> specs;
  std::vector<std::span<const std::byte>> constants;
  std::deque<std::shared_ptr<std::byte>> alignedConstants; // of those not aligned in the file
  std::vector<Program> programs;
  ExecutableCache cache;
};

/// Fills in everything below `root`; the bytes have passed the Verifier. Throws BinaryError.
void readImage(BinaryImage &image);
/// Fills in systemDesc from `system`. Throws BinaryError.
void readSystem(BinaryImage &image);

} // namespace tt::runtime
