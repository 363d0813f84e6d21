//===- dataflow_api.h - for data movement kernels -*- C++ -*-===//
#pragma once

#include "tt/metal/kernel_api.h"
