//===- open.h - files that leave sizes open ---------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A file can name sizes that its programs take as they come. What it says is for
// one value of each; binding it to others gives an image for these, whose shapes
// follow from the inputs op by op, by the shape rules. It is checked like what a
// loader has read.
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

/// What is open in a file.
struct Open {
  struct Dimension {
    uint32_t value, dimension;
    shapes::Code code;
  };
  struct Number {
    uint32_t operation;
    std::vector<uint32_t> path; // of attribute, fields and items, element
    shapes::Code code;
    bool reciprocal = false; // 1 over what the expression gives
  };
  struct OfProgram {
    std::vector<Dimension> dimensions; // by value
    std::vector<Number> numbers;       // by operation
  };
  std::vector<OpenSize> sizes;
  std::vector<OfProgram> programs; // of all

  std::vector<std::string_view> names() const;
};

/// Reads what is open in programs that have been read. Throws BinaryError.
Open readOpen(const target::Open &from, std::span<const Program> programs, files::Place &place);

/// The sizes that inputs of these shapes have, of all of the file: those that no input of the program tells are as
/// written. Throws Error that names the input, the dimension and the size that it contradicts or whose bounds it
/// leaves.
std::vector<int64_t> sizesOf(const Open &open, const Program &program, size_t index, std::span<const Shape> inputs);

/// The programs that `program` runs, itself among them, for other sizes. `specs` takes what their values are,
/// `constants` has the memory of constants that depend on sizes. Throws OpError where an op does not take the sizes.
std::vector<Program> bindPrograms(const Open &open, std::span<const Program> programs, size_t program,
                                  std::span<const int64_t> sizes, std::vector<TensorSpec> &specs,
                                  std::deque<std::shared_ptr<std::byte>> &constants);

/// That programs have the same values and attributes, as a file that was compiled for some sizes and the open file for
/// these must have. Throws OpError that names what differs.
void requireSame(std::span<const Program> programs, std::span<const Program> others, size_t program);

/// Images for the sizes that were met last.
struct Bindings {
  static constexpr size_t kept = 4;
  struct Entry {
    size_t program;
    std::vector<int64_t> sizes;
    std::shared_ptr<BinaryImage> image;
  };
  ForkAware<std::mutex> mutex;
  std::vector<Entry> entries; // the last one first
};

} // namespace tt::runtime
