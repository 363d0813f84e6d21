//===- segments.cpp - memory that OpenMPI shares between ranks ------------===//
// SPDX-License-Identifier: Apache-2.0

#include "segments.h"

#include "tt/file_lock.h"

#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <random>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

namespace tt::sim {
namespace {

namespace fs = std::filesystem;

const fs::path shared = "/dev/shm";
/// The variables of OpenMPI 4 and 5.
constexpr const char *variables[] = {"OMPI_MCA_btl_vader_backing_directory", "OMPI_MCA_btl_sm_backing_directory"};

std::string prefix() { return "ttranks-" + std::to_string(::geteuid()) + "-"; }

/// The folder of this process, and the descriptor that holds its lock; never destroyed.
struct Own {
  fs::path folder;
  int lock = -1;
};
Own &own() {
  static Own *const only = new Own;
  return *only;
}

/// Removes folders of ranks that were killed. A folder is locked before it has its name, so it is never seen unlocked.
void clean() {
  std::error_code error;
  for (const auto &entry : fs::directory_iterator(shared, error)) {
    if (!entry.path().filename().string().starts_with(prefix()))
      continue;
    const int lock = ::open((entry.path() / "lock").c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0 || !isFileTaken(lock))
      fs::remove_all(entry.path(), error);
    if (lock >= 0)
      ::close(lock);
  }
}

bool make() {
  std::random_device random;
  const std::string name = prefix() + std::to_string(::getpid()) + "-" + std::to_string(random());
  const fs::path unfinished = shared / ("." + name);
  std::error_code error;
  if (::mkdir(unfinished.c_str(), 0700) != 0)
    return false;
  const int lock = ::open((unfinished / "lock").c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (lock >= 0 && takeFile(lock, Holder::Process)) {
    fs::rename(unfinished, shared / name, error);
    if (!error) {
      own() = {shared / name, lock};
      return true;
    }
  }
  if (lock >= 0)
    ::close(lock);
  fs::remove_all(unfinished, error);
  return false;
}

} // namespace

Segments::Segments() {
  for (const char *name : variables)
    if (std::getenv(name))
      return;
  clean();
  if (make())
    for (const char *name : variables)
      ::setenv(name, own().folder.c_str(), 1);
}

/// Programs that the rank starts are not part of it.
Segments::~Segments() {
  if (!own().folder.empty())
    for (const char *name : variables)
      ::unsetenv(name);
}

void removeSegments() {
  if (own().folder.empty())
    return;
  std::error_code error;
  fs::remove_all(own().folder, error);
  ::close(own().lock);
  own() = {};
}

} // namespace tt::sim
