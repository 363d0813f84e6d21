//===- softmax.h - ttnn.softmax ------------------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "core/op.h"

namespace tt::ttnn {
std::unique_ptr<Kernel> makeSoftmax(const OpCall &call);
} // namespace tt::ttnn
