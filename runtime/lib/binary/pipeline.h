//===- pipeline.h - programs of stages --------------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/flatbuffer.h"
#include "tt/runtime/binary.h"

#include <binary_generated.h>

namespace tt::runtime {

/// Reads the stages of a program, whose values are known like those of all `programs`. Afterwards, every stage gets
/// values of the shape and type that it takes. Throws BinaryError.
void readPipeline(const target::Pipeline &from, std::span<const Program> programs, const files::Place &place,
                  Program &to);

} // namespace tt::runtime
