//===- precompiled.h - what most files of the library include -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see runtime/CMakeLists.txt. Of this project it contains only headers that every layer reads: a
// change of them recompiles the library in any case.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/parallel.h"
#include "tt/ttnn/kernel.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>
