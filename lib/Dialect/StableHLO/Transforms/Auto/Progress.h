//===- Progress.h - how far a search has come -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#ifndef TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_PROGRESS_H
#define TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_PROGRESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <chrono>
#include <string>

namespace mlir::tt::shlo::autosharding {

/// A progress bar on the terminal for searches longer than a second; nothing if stderr is not a terminal.
class Progress {
public:
  explicit Progress(llvm::StringRef title) : title(title) {}
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;
  ~Progress() { clear(); }

  /// done: from 0 to 1.
  void at(double done, llvm::StringRef what) {
    using namespace std::chrono;
    if (!isTerminal || steady_clock::now() - start < seconds(1))
      return;
    const auto filled = static_cast<unsigned>(std::clamp(done, 0.0, 1.0) * width);
    llvm::errs() << "\r\033[K" << title << " [" << std::string(filled, '#') << std::string(width - filled, '.') << "] "
                 << llvm::format("%3.0f%%", 100 * std::clamp(done, 0.0, 1.0)) << ' ' << what;
    isDrawn = true;
  }

  /// Before anything else is written.
  void clear() {
    if (isDrawn)
      llvm::errs() << "\r\033[K";
    isDrawn = false;
  }

private:
  static constexpr unsigned width = 30;
  const std::string title;
  const std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  const bool isTerminal = llvm::sys::Process::StandardErrIsDisplayed();
  bool isDrawn = false;
};

} // namespace mlir::tt::shlo::autosharding

#endif // TTMLIR_LIB_DIALECT_STABLEHLO_TRANSFORMS_AUTO_PROGRESS_H
