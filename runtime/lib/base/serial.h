//===- serial.h - loops in the calling thread --------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace tt {

/// While it exists, parallelFor runs in the calling thread: for work that takes less than to start the others.
class SerialLoops {
public:
  SerialLoops();
  SerialLoops(const SerialLoops &) = delete;
  SerialLoops &operator=(const SerialLoops &) = delete;
  ~SerialLoops();

private:
  const bool before;
};

} // namespace tt
