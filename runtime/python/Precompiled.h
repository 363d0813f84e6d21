//===- Precompiled.h - what the parts of the extension include ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// Not to be included: see CMakeLists.txt.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "TtnnBindings.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/unordered_map.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
