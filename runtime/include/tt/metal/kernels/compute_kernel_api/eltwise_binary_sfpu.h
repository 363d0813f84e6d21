//===- eltwise_binary_sfpu.h - for compute kernels -*- C++ -*-===//
#pragma once

#include "tt/metal/kernel_api.h"
