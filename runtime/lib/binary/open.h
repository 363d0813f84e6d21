//===- open.h - files that leave sizes open ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A file can leave sizes open. Its shapes and attributes are written for one value of each open size. Binding the file
// to other values infers the shapes of all results op by op with the shape rules, evaluates the attributes that depend
// on sizes, and checks every changed op like the loader.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "base/flatbuffer.h"
#include "tt/runtime/binary.h"
#include "ttmlir/shapes/Expression.h"

#include <binary_generated.h>
#include <deque>
#include <mutex>

namespace tt::runtime {

/// The open sizes of a file, and the numbers that depend on them.
struct Open {
  struct Dimension {
    uint32_t value, dimension;
    shapes::Code code;
  };
  struct Number {
    uint32_t operation;
    std::vector<uint32_t> path; // of attribute, fields and items, element
    shapes::Code code;          // none: a constant repeats the value that it has
    bool reciprocal = false;    // 1 over what the expression gives
  };
  /// An op that sizes may change.
  struct Changing {
    uint32_t operation;
    bool byShapes;                 // of its operands alone: it has no number, callee or result that is told
    std::vector<uint32_t> resized; // operands whose shapes sizes may change
  };
  struct OfProgram {
    std::vector<Dimension> dimensions; // by value
    std::vector<Number> numbers;       // by operation
    std::vector<Changing> operations;  // in order
  };
  std::vector<OpenSize> sizes;
  std::vector<OfProgram> programs; // of all

  std::vector<std::string_view> names() const;
};

/// Reads the table of open sizes of a file whose programs have been read. Throws BinaryError.
Open readOpen(const target::Open &from, const SharedList<Program> &programs, files::Place &place);

/// Returns the values of all open sizes for inputs of these shapes. A size that no input of the program determines
/// keeps its written value. Throws Error naming the input, the dimension, and the size that does not match or is out of
/// bounds.
std::vector<int64_t> sizesOf(const Open &open, const Program &program, size_t index, std::span<const Shape> inputs);

/// Returns the programs with `program`, and all programs that it calls, bound to `sizes`. Appends the new tensor
/// descriptions to `specs`, and memory of constants that depend on sizes to `constants`. Throws OpError naming the op
/// that refuses the sizes.
SharedList<Program> bindPrograms(const Open &open, const SharedList<Program> &programs, size_t program,
                                 std::span<const int64_t> sizes, std::deque<TensorSpec> &specs,
                                 std::deque<std::shared_ptr<std::byte>> &constants);

/// Throws OpError unless two programs have the same ops, shapes and attributes: those of a file that was compiled for
/// some sizes, and those of the open file bound to these sizes.
void requireSame(const SharedList<Program> &programs, const SharedList<Program> &others, size_t program);

/// Whether two ops have the same attributes.
bool areSame(const ttnn::Attributes &a, const ttnn::Attributes &b);

/// The most recently bound images of a file.
struct Bindings {
  static constexpr size_t kept = 4;
  struct Entry {
    size_t program;
    std::vector<int64_t> sizes;
    std::shared_ptr<BinaryImage> image;
  };
  ForkAware<std::mutex> mutex;
  std::vector<Entry> entries; // most recent first
};

} // namespace tt::runtime
