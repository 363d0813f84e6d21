//===- sfpu_split_includes.h - for compute kernels -*- C++ -*-===//
#pragma once

#include "tt/metal/kernel_api.h"
