//===- Precompiled.h - what most unit tests include ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see runtime/CMakeLists.txt.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/parallel.h"
#include "tt/runtime/runtime.h"
#include "tt/ttnn/call.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <random>
#include <thread>
