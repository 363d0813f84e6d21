//===- common.h - for compute kernels -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tt/metal/kernel_api.h"
