//===- native_code.h - machine code that comes with programs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A flatbuffer may hold functions as machine code, which `debug.host_call` names as "native:<hash>:<function>". No
// check can make such code safe: it is not loaded before the caller that runs the program has allowed it. The hash is
// that of the code, so permission for one file applies to its copies.
//
//===----------------------------------------------------------------------===//
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace tt::ttnn {

/// Registers code with the process. `triple`: of the machine for which it was compiled. Throws Error if other code is
/// known by the hash.
void addNativeCode(uint64_t hash, std::span<const std::byte> object, std::string triple);
/// Allows code for the rest of the process. Throws Error for code that is not known.
void allowNativeCode(uint64_t hash);

/// Whether exactly this code is allowed. `hash`: of the code.
bool isNativeCodeAllowed(uint64_t hash, std::span<const std::byte> code);

/// Returns the prefix of the triples of code for this machine.
std::string_view nativeMachine();

/// Takes pointers to the values of operands and results, row-major, in order.
using NativeFunction = void (*)(void *const *tensors);

/// Whether a name is that of a function in native code.
bool isNative(std::string_view function);
/// The function of "native:<hash>:<function>". Throws OpError if the code is not allowed, is for another machine, or
/// has no such function for tensors of these sizes, operands and then results.
NativeFunction nativeFunction(std::string_view function, std::span<const uint64_t> bytes);

} // namespace tt::ttnn
