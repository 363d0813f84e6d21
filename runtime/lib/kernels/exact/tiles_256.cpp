//===- tiles_256.cpp - products of tiles with vectors of 256 bits -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/tiles_of_vectors.h"

namespace tt::ttnn::exact::tiles {

const Functions vectors256::functions = functionsOf<8>();

} // namespace tt::ttnn::exact::tiles
