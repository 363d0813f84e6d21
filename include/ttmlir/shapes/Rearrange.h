//===- Rearrange.h - patterns of rearrange ----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// "b h w c -> b (h w) c": the input's dimensions by name, and the result's. A group in parentheses is one dimension,
// the product of its sizes; `1` and `()` are a dimension of size 1, and `...` stands for any number of dimensions.
//
//===----------------------------------------------------------------------===//
#ifndef TTMLIR_SHAPES_REARRANGE_H
#define TTMLIR_SHAPES_REARRANGE_H

#include "ttmlir/shapes/Sizes.h"

#include <string>
#include <string_view>

namespace tt::shapes {

struct Rearrangement {
  Sizes order;            // the input's dimensions in the order of the result; those of size 1 that it drops are last
  Small<Sizes, 6> groups; // for each dimension of the result, the input's dimensions that it is the product of
  std::string error;      // what is wrong with the pattern, or empty
};

/// The pattern for an input of that shape.
Rearrangement rearrangement(std::string_view pattern, View input);

} // namespace tt::shapes

#endif // TTMLIR_SHAPES_REARRANGE_H
