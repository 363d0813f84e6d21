//===- compute_kernel_hw_startup.h - for compute kernels -*- C++ -*-===//
#pragma once

#include "tt/metal/kernel_api.h"
