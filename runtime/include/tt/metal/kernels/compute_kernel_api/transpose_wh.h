//===- transpose_wh.h - for compute kernels -*- C++ -*-===//
#pragma once

#include "tt/metal/kernel_api.h"
