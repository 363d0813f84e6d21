//===- image.h - contents of a loaded TTMetal binary ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "binary/image.h"
#include "binary/metal/program.h"

namespace tt::runtime {
class Json;
}

namespace tt::metal {

/// Programs in the order of BinaryImage::programs.
struct Image {
  const sim::ChipDesc *chip = nullptr;
  std::vector<Program> programs;
  /// Kernels that differ in source, arguments or type, by their entry in the library.
  std::vector<const Kernel *> entries;
};

/// Whether the bytes have the identifier of a TTMetal file.
bool isMetal(std::span<const std::byte> bytes);
/// Fills in the image from bytes that are a TTMetal file of a known size. Throws BinaryError.
void readImage(runtime::BinaryImage &image);
/// Numbers kernels: those that compile to the same code share an entry of the library, in `entries`.
void numberKernels(std::span<Kernel *const> kernels, std::vector<const Kernel *> &entries);
/// The compiler's input for the kernels, as bytes: files whose kernels compile to the same code have equal bytes.
std::string codeOf(const Image &image);
/// Allows the kernels, and those of files with equal ones, to be compiled and run in this process.
void allowKernels(const Image &image);
/// Throws OpError that names the file if they are not allowed.
void requireAllowed(const runtime::BinaryImage &image);
/// The commands of a program as a list, each with the fields of a TTNN op.
void writeCommands(runtime::Json &json, const runtime::BinaryImage &image, size_t program);
} // namespace tt::metal
