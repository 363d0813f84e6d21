//===- Sizes.h - shapes as the rules have them ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_SHAPES_SIZES_H
#define TTMLIR_SHAPES_SIZES_H

#include "ttmlir/shapes/Small.h"

namespace tt::shapes {

using ::ttmlir::shapes::Sizes;
using ::ttmlir::shapes::Small;
using ::ttmlir::shapes::View;

} // namespace tt::shapes

#endif // TTMLIR_SHAPES_SIZES_H
