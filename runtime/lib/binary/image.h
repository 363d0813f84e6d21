//===- image.h - the contents of a loaded binary -----------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/open.h"
#include "tt/fork.h"
#include "tt/runtime/binary.h"

#include <binary_generated.h>
#include <deque>
#include <mutex>
#include <optional>

namespace tt::metal {
struct Image;
}

namespace tt::runtime {

class BinaryImage {
public:
  BinaryImage(std::string name, std::span<const std::byte> bytes, std::shared_ptr<const void> owner);
  /// The file of another image with its programs for these sizes; only programs that `program` runs are bound.
  BinaryImage(const std::shared_ptr<BinaryImage> &open, size_t program, std::span<const int64_t> sizes);

  bool holds(std::span<const std::byte> values) const {
    return !values.empty() && values.data() >= bytes.data() && values.size() <= bytes.size() &&
           static_cast<size_t>(values.data() - bytes.data()) <= bytes.size() - values.size();
  }
  /// Releases the pages of a mapped file that hold values. Users that need them again (an embedding that shares its
  /// table with a product) read them again, so it may release more than the values.
  void release(std::span<const std::byte> values) const;
  /// The same for everything that was read to load the file or to prepare a program.
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
  /// Descriptions of values, which stay in their places.
  using Specs = std::deque<TensorSpec>;
  const std::shared_ptr<Specs> specs = std::make_shared<Specs>();
  std::shared_ptr<const Specs> specsOfOpen; // of boundOf, which the programs use, too
  std::vector<std::span<const std::byte>> constants;
  std::deque<std::shared_ptr<std::byte>> alignedConstants; // of those not aligned in the file
  SharedList<Program> programs;
  std::optional<uint64_t> nativeHash; // of native code, where there is some
  std::string nativeTriple;           // of the machine that it is for
  size_t nativeBytes = 0;
  std::unique_ptr<const Open> open;   // where sizes are
  Bindings bindings;                  // of an open one
  std::weak_ptr<BinaryImage> boundOf; // the open one that this is for some sizes

  /// Returns the state that a back end keeps with the binary (programs prepared for a device, compiled kernels): it is
  /// freed with the binary. A binary has one back end, and T is its type.
  template <class T> T &kept() {
    std::lock_guard lock(keptMutex);
    if (!keptByBackEnd)
      keptByBackEnd = std::make_shared<T>();
    return *static_cast<T *>(keptByBackEnd.get());
  }

private:
  ForkAware<std::mutex> keptMutex;
  std::shared_ptr<void> keptByBackEnd;
};

/// Fills in everything below `root`; the bytes have passed the Verifier. Throws BinaryError.
void readImage(BinaryImage &image);
/// Checks that calls pass the operands that programs take. Throws BinaryError.
void checkCalls(BinaryImage &image);
/// Fills in systemDesc from `system`. Throws BinaryError.
void readSystem(BinaryImage &image);

} // namespace tt::runtime
