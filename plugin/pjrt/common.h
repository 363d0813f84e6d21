//===- common.h - errors, and C++ functions as functions of PJRT -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
//
// A function of PJRT takes a struct and returns an error or nothing. Here it is a C++ function that takes the struct by
// reference and throws; `guarded` converts it, and checks that the caller's struct has all fields of this version.
//
//===----------------------------------------------------------------------===//
#pragma once

#include "tt/interrupt.h"
#include "tt/types.h"

#include "tensorflow/compiler/xla/pjrt/c/pjrt_c_api.h"

#include <algorithm>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>

struct PJRT_Error {
  PJRT_Error_Code code;
  std::string message;
};

namespace tt::pjrt {

class PluginError : public std::runtime_error {
public:
  PluginError(PJRT_Error_Code code, const std::string &message) : std::runtime_error(message), code(code) {}
  const PJRT_Error_Code code;
};

[[noreturn]] inline void invalid(const std::string &message) {
  throw PluginError(PJRT_Error_Code_INVALID_ARGUMENT, message);
}
[[noreturn]] inline void unimplemented(const std::string &message) {
  throw PluginError(PJRT_Error_Code_UNIMPLEMENTED, message);
}

/// The name of a function, as an argument of a template.
template <size_t N> struct Name {
  char text[N];
  constexpr Name(const char (&given)[N]) { std::copy_n(given, N, text); }
  operator std::string() const { return std::string(text, N - 1); }
};

/// The error that is being handled.
inline PJRT_Error *currentError() {
  try {
    throw;
  } catch (const PluginError &error) {
    return new PJRT_Error{error.code, error.what()};
  } catch (const OutOfMemoryError &error) {
    return new PJRT_Error{PJRT_Error_Code_RESOURCE_EXHAUSTED, error.what()};
  } catch (const std::bad_alloc &) {
    return new PJRT_Error{PJRT_Error_Code_RESOURCE_EXHAUSTED, "the host has no memory left"};
  } catch (const DeviceError &error) {
    return new PJRT_Error{PJRT_Error_Code_FAILED_PRECONDITION, error.what()};
  } catch (const Error &error) {
    return new PJRT_Error{PJRT_Error_Code_INVALID_ARGUMENT, error.what()};
  } catch (const Interrupted &) {
    return new PJRT_Error{PJRT_Error_Code_CANCELLED, "the program was ended by a signal"};
  } catch (const std::exception &error) {
    return new PJRT_Error{PJRT_Error_Code_INTERNAL, error.what()};
  } catch (...) {
    return new PJRT_Error{PJRT_Error_Code_INTERNAL, "an unknown exception"};
  }
}

/// The version in the table of functions: the header's, with what jaxlib expects of later ones (extensions.h).
inline constexpr int apiMinor = std::max(PJRT_API_MINOR, 93);
inline std::string apiVersion() { return std::to_string(PJRT_API_MAJOR) + "." + std::to_string(apiMinor); }

template <Name name, size_t expected, auto function, class Args> PJRT_Error *call(Args *args) {
  try {
    if (args->struct_size < expected)
      throw PluginError(PJRT_Error_Code_FAILED_PRECONDITION,
                        std::string(name) + ": the caller's arguments have " + std::to_string(args->struct_size) +
                            " bytes, expected " + std::to_string(expected) + " (PJRT API " + apiVersion() +
                            "); jaxlib speaks an older version than this plugin: use jax 0.10.2");
    function(*args);
    return nullptr;
  } catch (...) {
    return currentError();
  }
}

template <Name name, class Args> PJRT_Error *missing(Args *) {
  return new PJRT_Error{PJRT_Error_Code_UNIMPLEMENTED, std::string(name) + " is not implemented by the plugin for tt"};
}

/// The argument struct of a C++ function.
template <class T> struct ArgumentOf;
template <class A> struct ArgumentOf<void (*)(A &)> {
  using type = A;
};

template <Name name, size_t expected, auto function>
inline constexpr auto guarded = &call<name, expected, function, typename ArgumentOf<decltype(function)>::type>;

} // namespace tt::pjrt
