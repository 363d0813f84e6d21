//===- softmax.h - ttnn.softmax ------------------------------------*- C++ -*-===//
#pragma once

#include "core/op.h"

namespace tt::ttnn {
std::unique_ptr<Kernel> makeSoftmax(const OpCall &call);
} // namespace tt::ttnn
