//===- UnitsMain.cpp - main() of tests that run under a cap of vector units --===//
// SPDX-License-Identifier: Apache-2.0
//
// With TTRT_UNITS set, says what runs; where the CPU lacks these units there is nothing to test, which ctest reports as
// skipped.
//
//===----------------------------------------------------------------------===//

#include "tt/units.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <string>

namespace {

std::string cpuName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("model name"))
      return line.substr(line.find(':') + 2);
  return "unknown CPU";
}

bool isAbsent(std::string_view cap) {
  for (int unit = static_cast<int>(tt::presentUnits()) + 1; unit <= static_cast<int>(tt::Units::AMX); ++unit)
    if (cap == tt::toString(static_cast<tt::Units>(unit)))
      return true;
  return false;
}

} // namespace

int main(int argc, char **argv) {
  testing::InitGoogleTest(&argc, argv);
  if (const char *cap = std::getenv("TTRT_UNITS"); cap && *cap) {
    const bool absent = isAbsent(cap);
    std::cout << (absent ? "skipped: " : "") << "TTRT_UNITS=" << cap << ": " << cpuName() << " has "
              << tt::toString(tt::presentUnits()) << " and what is below\n";
    if (absent)
      return 0;
  }
  return RUN_ALL_TESTS();
}
