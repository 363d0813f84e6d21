//===- socket.h - sockets of TCP that wait with a limit ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tt::pjrt {

using Clock = std::chrono::steady_clock;

/// A socket that does not block, or none.
class Socket {
public:
  Socket() = default;
  explicit Socket(int file) : file(file) {}
  Socket(Socket &&other) noexcept : file(std::exchange(other.file, -1)) {}
  Socket &operator=(Socket &&other) noexcept {
    std::swap(file, other.file);
    return *this;
  }
  ~Socket();
  /// Throws PluginError.
  static Socket tcp();
  /// Listens at a free port of all addresses. Throws PluginError.
  static Socket listening(uint16_t &port);
  /// Connects to an IPv4 address; none if nothing answers there.
  static Socket connected(const std::string &host, uint16_t port);

  int operator*() const { return file; }
  explicit operator bool() const { return file >= 0; }
  /// Sends small messages at once, and notices machines that are gone.
  void tune() const;

private:
  int file = -1;
};

/// Waits for events of poll().
bool isReady(const Socket &socket, short events, std::chrono::milliseconds wait);
/// Sends all bytes until the deadline; false if the other end does not take them.
bool sendText(const Socket &socket, std::string_view text, Clock::time_point until);
/// Returns as many bytes; none if they do not come until the deadline.
std::string receiveText(const Socket &socket, size_t bytes, Clock::time_point until);
/// Returns addresses at which other machines may reach this one.
std::vector<std::string> ownAddresses();

} // namespace tt::pjrt
