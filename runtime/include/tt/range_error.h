//===- range_error.h - range errors -----------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/types.h"

namespace tt {

/// An attribute with a number that the data type of the result cannot hold. In Python also a ValueError.
class RangeError : public OpError {
  using OpError::OpError;
};

} // namespace tt
