//===- compute_kernel_api.h - for compute kernels -*- C++ -*-===//
#pragma once

#include "tt/metal/kernel_api.h"
