//===- generic_op.hpp - programs of kernels on tensors -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
//   #include <ttnn/generic_op.hpp>
//
//===----------------------------------------------------------------------===//
#pragma once

#include "ttnn/detail/generic_op.hpp"
#include "ttnn/program_descriptors.hpp"
