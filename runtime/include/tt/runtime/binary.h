//===- binary.h - a TTNN or TTMetal flatbuffer, checked ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A file is untrusted until it has passed, in this order: size, identifier,
// FlatBuffers' Verifier with limits on depth and tables, schema version, and
// the checks of what it says (indices, shapes, byte counts, known ops, arity and
// kinds of attributes, definition before use). After that, preparing it can
// still fail with a clear error (an op may not take the shapes it is given), and
// running it cannot read or write out of bounds.
//
// Code that a file brings is an exception: the kernels of a TTMetal file, which
// are C++ that is compiled and run in this process, and machine code for the
// host. It runs only after allowNative().
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/sim/device.h"
#include "tt/ttnn/kernel.h"
#include "tt/types.h"

#include <cstddef>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tt::runtime {

inline constexpr uint32_t absentOperand = 0xFFFFFFFF;

/// A list of elements that do not change. Copies share them; a copy that gets an element of its own shares the others.
template <class T> class SharedList {
public:
  class Iterator {
  public:
    using value_type = T;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    explicit Iterator(const T *const *at) : at(at) {}
    const T &operator*() const { return **at; }
    const T *operator->() const { return *at; }
    Iterator &operator++() { return ++at, *this; }
    Iterator operator++(int) { return Iterator(at++); }
    difference_type operator-(const Iterator &other) const { return at - other.at; }
    bool operator==(const Iterator &) const = default;

  private:
    const T *const *at = nullptr;
  };

  SharedList() = default;
  explicit SharedList(std::vector<T> elements) : given(std::make_shared<const std::vector<T>>(std::move(elements))) {
    all.reserve(given->size());
    for (const T &element : *given)
      all.push_back(&element);
  }
  size_t size() const { return all.size(); }
  bool empty() const { return all.empty(); }
  const T &operator[](size_t index) const { return *all[index]; }
  Iterator begin() const { return Iterator(all.data()); }
  Iterator end() const { return Iterator(all.data() + all.size()); }
  void replace(size_t index, std::shared_ptr<const T> by) {
    all[index] = by.get();
    own.push_back(std::move(by));
  }

private:
  std::vector<const T *> all;
  std::shared_ptr<const std::vector<T>> given;
  std::vector<std::shared_ptr<const T>> own;
};

struct Operation {
  const ttnn::OpInfo *info = nullptr;
  std::vector<uint32_t> ins; // absentOperand where an optional operand is not there
  std::vector<uint32_t> outs;
  ttnn::Attributes attributes;
  std::string_view loc, source, debug;
  /// How the op uses programs of the binary.
  enum class Call : uint8_t {
    None,
    Cached, // ttcore.load_cached: runs one, once
    While,  // ttcore.while: runs the second while the first says so
    Case,   // ttcore.case: runs the one that its first operand names
    Trace,  // ttnn.capture_or_execute_trace: runs one, which is prepared once
  };
  Call call = Call::None;
  std::vector<uint32_t> callees; // by number
  /// Runs others whenever it runs itself.
  bool isControl() const { return call == Call::While || call == Call::Case || call == Call::Trace; }
};

struct Value {
  const TensorSpec *spec; // of the binary; values of equal descriptions share one
  std::string_view name;
};

/// The source of a value of a pipeline.
struct StageValue {
  static constexpr uint32_t ofPipeline = 0xFFFFFFFF;
  uint32_t stage = ofPipeline; // its output, or an input of the pipeline
  uint32_t index = 0;
  bool isInput() const { return stage == ofPipeline; }
};

/// A program on a part of the mesh.
struct Stage {
  uint32_t program = 0; // by number
  sim::Rectangle place;
  std::vector<StageValue> inputs;
};

/// The stages of a program that has no operations of its own: micro-batches go through all stages, one after another.
struct Pipeline {
  uint32_t microBatches = 1;
  std::vector<Stage> stages; // each uses what earlier ones give; on different chips
  std::vector<StageValue> outputs;
};

struct Program {
  std::string_view name;
  std::vector<Value> values;
  std::vector<uint32_t> inputs, outputs;
  SharedList<Operation> operations; // none in a TTMetal program, which is commands
  std::vector<uint32_t> meshShape;  // [rows, columns]
  bool isPrivate = false;
  std::optional<Pipeline> pipeline;

  const TensorSpec &spec(uint32_t value) const { return *values[value].spec; }
  uint32_t devices() const { return meshShape[0] * meshShape[1]; }
  /// Returns the call that a kernel gets: operands and results.
  ttnn::OpCall call(const Operation &operation) const;
};

/// The chips a binary was compiled for; arch is None when it does not say.
struct SystemDesc {
  Arch arch = Arch::None;
  uint32_t chips = 0;
  std::vector<uint32_t> meshShape;
};

/// An open size of a file and its bounds, both inclusive. The file's shapes are written for `written`.
struct OpenSize {
  std::string_view name;
  int64_t least, most, written;
};

class BinaryImage;

/// A handle; copies share the file, and the programs prepared from it.
class Binary {
public:
  Binary() = default;
  /// Maps the file; constants are used in place. Throws BinaryError.
  static Binary load(const std::string &path);
  /// Copies bytes that are not aligned to 64; otherwise `owner` keeps them alive.
  static Binary load(std::span<const std::byte> bytes, std::shared_ptr<const void> owner = nullptr,
                     const std::string &name = "flatbuffer");

  explicit operator bool() const { return image != nullptr; }
  uint64_t id() const;
  const std::string &fileName() const;
  /// "TTNN" or "TTM0".
  std::string_view identifier() const;
  std::string version() const; // of the compiler
  uint32_t schemaVersion() const;
  std::string_view mlir() const;
  const SystemDesc &systemDesc() const;
  const SharedList<Program> &programs() const;
  /// Throws Error naming the number of programs.
  const Program &program(size_t index) const;
  std::span<const std::byte> bytes() const;
  /// The open sizes; empty for files with static shapes, and for bound binaries.
  std::span<const OpenSize> openSizes() const;
  /// Binds the open sizes to inputs of these shapes (per device) of a program; returns itself if no size is open. The
  /// most recent bindings are cached. Throws Error naming input, dimension and size, OpError naming the op that refuses
  /// the sizes.
  Binary bound(size_t program, std::span<const Shape> inputs) const;
  /// The same for values of the open sizes by name; others keep the written value. Throws Error for an unknown name or
  /// a value out of bounds.
  Binary boundTo(size_t program, std::span<const std::pair<std::string, int64_t>> sizes) const;
  /// Throws Error unless this file, bound to the sizes of `other`, has the same program.
  void requireSame(const Binary &other, size_t program) const;
  /// Whether it has kernels in C++ or machine code for the host, which run only after allowNative().
  bool hasNative() const;
  /// The code of this file, and of its copies, may run in this process from now on. It can do whatever the
  /// process may. Nothing happens for a file without.
  void allowNative() const;
  /// Writes the file; a failure leaves nothing behind. Throws Error.
  void store(const std::string &path) const;

  std::string asJson() const;
  std::string systemDescAsJson() const;
  std::string inputsAsJson(size_t program) const;
  std::string outputsAsJson(size_t program) const;
  /// Ops, or the commands of a TTMetal program.
  std::string operationsAsJson(size_t program) const;
  std::string mlirAsJson() const;
  /// C++ sources of the kernels of a TTMetal file, by symbol; those that differ under one symbol are numbered.
  std::vector<std::pair<std::string, std::string>> kernelSources() const;

  BinaryImage &impl() const;
  bool operator==(const Binary &) const = default;

private:
  Binary boundToSizes(size_t program, std::vector<int64_t> sizes) const;

  std::shared_ptr<BinaryImage> image;
};

} // namespace tt::runtime
