//===- tiles_512.cpp - products of tiles with vectors of 512 bits -------------===//
// SPDX-License-Identifier: Apache-2.0

#include "kernels/exact/tiles_of_vectors.h"

#if defined(__x86_64__)
namespace tt::ttnn::exact::tiles {

const Functions vectors512::functions = functionsOf<16>();

} // namespace tt::ttnn::exact::tiles

#endif
