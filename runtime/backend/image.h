//===- image.h - device images, checked --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// The description of an image is that of frontends/pybuda/image.py, version 3. After an image was loaded, everything to
// which its numbers refer exists and agrees with the program in shape and type.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/runtime/runtime.h"
#include "tt_backend_api_types.hpp"

#include <optional>

namespace tt::backend {

/// Returns the data type of tensors in memory of the host. Throws Error for a format with blocks.
DataType dataTypeOf(DataFormat format);
DataFormat formatOf(DataType dtype);
bool isFloat(DataType dtype);

/// An input or output.
struct Port {
  std::string name;
  Shape shape;
  DataType dtype = DataType::Float32;
  size_t bytes() const { return static_cast<size_t>(volume(shape)) * storageBytes(dtype); }
  /// The outermost dimension: a queue has this many entries per index.
  uint64_t entries() const { return shape.empty() || shape[0] == 0 ? 1 : static_cast<uint64_t>(shape[0]); }
};

struct Model {
  std::string program; // its name
  ARCH arch = ARCH::Invalid;
  std::vector<uint32_t> harvestedRows;
  bool exact = false; // computes as a card does
  runtime::Binary binary;
  std::vector<Port> inputs, outputs;
  std::vector<runtime::Tensor> parameters; // on the host
  /// The input of the binary's program 0 for each input here: a parameter or, after the parameters, an input.
  std::vector<size_t> arguments;
  /// The output of the program for each output here.
  std::vector<size_t> results;
};

struct Image {
  std::string path;
  std::vector<Model> models;
  std::vector<std::string> inputNames, outputNames, programNames;

  /// Throws Error, which names what there is.
  const Port &port(const std::string &name) const;
};

/// Throws Error naming the file, the field, and what was expected and found.
std::shared_ptr<const Image> loadImage(const std::string &path);

} // namespace tt::backend
