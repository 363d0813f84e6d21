//===- publication.cpp - files in which processes publish their meshes ---===//
// SPDX-License-Identifier: Apache-2.0

#include "publication.h"

#include "tt/file_lock.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>

namespace tt::sim {
namespace publication {
namespace {

std::string temporaryFolder() { return "/tmp/ttmlir-" + std::to_string(::geteuid()); }
/// Returns the XDG_RUNTIME_DIR of users who have logged in.
std::string loginFolder() { return "/run/user/" + std::to_string(::geteuid()); }

/// The working directory when the process loaded the library: relative paths are relative to it.
const std::filesystem::path &startDirectory() {
  static const auto *const only = [] {
    std::error_code ignored;
    return new std::filesystem::path(std::filesystem::current_path(ignored));
  }();
  return *only;
}
[[maybe_unused]] const auto &noted = startDirectory();

} // namespace

int64_t clockNs(clockid_t clock) {
  struct timespec time;
  ::clock_gettime(clock, &time);
  return time.tv_sec * int64_t(1'000'000'000) + time.tv_nsec;
}

bool isOwnFolder(const std::string &path) {
  struct stat info;
  return ::lstat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

std::optional<std::string> givenFolder() {
  const char *given = std::getenv("TTRT_PUBLISH");
  if (!given || !*given)
    return std::nullopt;
  return given == std::string("0") ? "" : (startDirectory() / given).string();
}

std::vector<std::string> foldersToRead() {
  if (const auto given = givenFolder())
    return given->empty() ? std::vector<std::string>() : std::vector{*given};
  // Programs may have been started with another XDG_RUNTIME_DIR, or with none.
  std::vector<std::string> folders = {temporaryFolder()};
  if (isOwnFolder(loginFolder()))
    folders.push_back(loginFolder() + "/ttmlir");
  if (const std::string own = publicationFolder(); std::ranges::find(folders, own) == folders.end())
    folders.push_back(own);
  if (::geteuid() != 0)
    return folders;
  for (const auto &[parent, prefix, suffix] :
       {std::array<std::string, 3>{"/tmp", "ttmlir-", ""}, {"/run/user", "", "/ttmlir"}}) {
    DIR *found = ::opendir(parent.c_str());
    while (const dirent *each = found ? ::readdir(found) : nullptr) {
      const std::string name = each->d_name, path = parent + "/" + name + suffix;
      if (name.starts_with(prefix) && name[0] != '.' && std::ranges::find(folders, path) == folders.end())
        folders.push_back(path);
    }
    if (found)
      ::closedir(found);
  }
  return folders;
}

std::vector<std::string> entriesOf(const std::string &folder) {
  std::vector<std::string> names;
  DIR *found = ::opendir(folder.c_str());
  while (const dirent *each = found ? ::readdir(found) : nullptr)
    if (each->d_name[0] != '.')
      names.emplace_back(each->d_name);
  if (found)
    ::closedir(found);
  std::ranges::sort(names);
  return names;
}

uint32_t processOf(const std::string &name) {
  if (name.empty() || name.size() > 9 || !std::ranges::all_of(name, [](char c) { return c >= '0' && c <= '9'; }))
    return 0;
  return static_cast<uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
}

bool removedAsStale(const File &file, const std::string &path) {
  if (isFileTaken(file.get()))
    return false;
  struct stat opened, named;
  if (::fstat(file.get(), &opened) == 0 && ::lstat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino)
    ::unlink(path.c_str());
  return true;
}

void clean(const std::string &folder) {
  for (const std::string &name : entriesOf(folder))
    if (const std::string path = folder + "/" + name; processOf(name))
      if (const File file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)})
        removedAsStale(file, path);
}

} // namespace publication

using namespace publication;

std::string publicationFolder() {
  if (const auto given = givenFolder())
    return *given;
  const char *runtime = std::getenv("XDG_RUNTIME_DIR");
  return runtime && *runtime == '/' && isOwnFolder(runtime) ? std::string(runtime) + "/ttmlir" : temporaryFolder();
}

std::string publicationProblem() {
  const std::string folder = publicationFolder();
  if (folder.empty())
    return "off (TTRT_PUBLISH=0)";
  const auto unusable = [&](const std::filesystem::path &path) {
    return ::access(path.c_str(), W_OK | X_OK) == 0 ? "" : path.string() + ": " + std::strerror(errno);
  };
  struct stat info;
  if (::lstat(folder.c_str(), &info) != 0)
    return errno == ENOENT
               ? unusable(std::filesystem::path(folder + "/.").lexically_normal().parent_path().parent_path())
               : folder + ": " + std::strerror(errno);
  if (!S_ISDIR(info.st_mode))
    return folder + ": is no folder";
  if (info.st_uid != ::geteuid())
    return folder + ": belongs to another user";
  return unusable(folder);
}

} // namespace tt::sim
