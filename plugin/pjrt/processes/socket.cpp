//===- socket.cpp - sockets of TCP that wait with a limit -----------------===//
// SPDX-License-Identifier: Apache-2.0

#include "processes/socket.h"

#include "common.h"

#include <cerrno>
#include <cstring>

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

namespace tt::pjrt {

using std::chrono::milliseconds;

Socket::~Socket() {
  if (file >= 0)
    ::close(file);
}

Socket Socket::tcp() {
  Socket created(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (created.file < 0)
    throw PluginError(PJRT_Error_Code_INTERNAL, std::string("no socket can be created: ") + std::strerror(errno));
  return created;
}

Socket Socket::listening(uint16_t &port) {
  Socket socket = tcp();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_ANY);
  socklen_t size = sizeof address;
  if (::bind(*socket, reinterpret_cast<sockaddr *>(&address), size) || ::listen(*socket, SOMAXCONN) ||
      ::getsockname(*socket, reinterpret_cast<sockaddr *>(&address), &size))
    throw PluginError(PJRT_Error_Code_INTERNAL,
                      std::string("no port can be listened to for other processes: ") + std::strerror(errno));
  port = ntohs(address.sin_port);
  return socket;
}

Socket Socket::connected(const std::string &host, uint16_t port) {
  Socket socket = tcp();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (::inet_pton(AF_INET, host.c_str(), &address.sin_addr) != 1)
    return {};
  if (::connect(*socket, reinterpret_cast<sockaddr *>(&address), sizeof address) && errno != EINPROGRESS)
    return {};
  int error = 0;
  socklen_t size = sizeof error;
  if (!isReady(socket, POLLOUT, std::chrono::seconds(5)) ||
      ::getsockopt(*socket, SOL_SOCKET, SO_ERROR, &error, &size) || error)
    return {};
  return socket;
}

void Socket::tune() const {
  const int yes = 1;
  ::setsockopt(file, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(file, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

bool isReady(const Socket &socket, short events, milliseconds wait) {
  pollfd entry{*socket, events, 0};
  return ::poll(&entry, 1, static_cast<int>(wait.count())) > 0;
}

namespace {
template <class F> bool transferAll(const Socket &socket, short event, size_t bytes, Clock::time_point until, F some) {
  for (size_t done = 0; done < bytes;) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left.count() <= 0 || !isReady(socket, event, left))
      return false;
    const ssize_t count = some(done);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
      return false;
    done += count > 0 ? static_cast<size_t>(count) : 0;
  }
  return true;
}
} // namespace

bool sendText(const Socket &socket, std::string_view text, Clock::time_point until) {
  return transferAll(socket, POLLOUT, text.size(), until, [&](size_t done) {
    return ::send(*socket, text.data() + done, text.size() - done, MSG_NOSIGNAL);
  });
}
std::string receiveText(const Socket &socket, size_t bytes, Clock::time_point until) {
  std::string text(bytes, '\0');
  const bool all = transferAll(socket, POLLIN, bytes, until,
                               [&](size_t done) { return ::recv(*socket, text.data() + done, bytes - done, 0); });
  return all ? text : "";
}

std::vector<std::string> ownAddresses() {
  std::vector<std::string> found;
  ifaddrs *list = nullptr;
  if (::getifaddrs(&list))
    return found;
  for (const ifaddrs *entry = list; entry; entry = entry->ifa_next) {
    if (!entry->ifa_addr || entry->ifa_addr->sa_family != AF_INET || (entry->ifa_flags & IFF_LOOPBACK))
      continue;
    char text[INET_ADDRSTRLEN];
    const auto *address = reinterpret_cast<const sockaddr_in *>(entry->ifa_addr);
    if (::inet_ntop(AF_INET, &address->sin_addr, text, sizeof text))
      found.emplace_back(text);
  }
  ::freeifaddrs(list);
  return found;
}

} // namespace tt::pjrt
