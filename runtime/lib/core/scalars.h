//===- scalars.h - functions of single numbers, for kernels -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "ttmlir/scalars/Functions.h"

namespace tt {
namespace scalars = ::ttmlir::scalars;
} // namespace tt
