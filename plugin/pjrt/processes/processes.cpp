//===- processes.cpp - the processes of jax.distributed -------------------===//
// SPDX-License-Identifier: Apache-2.0

#include "processes/processes.h"

#include "processes/socket.h"

#include "tt/fork.h"
#include "tt/interrupt.h"

#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <random>
#include <sstream>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

namespace tt::pjrt {
namespace {

using std::chrono::milliseconds;

constexpr const char *timeoutVariable = "TTRT_RANKS_TIMEOUT";
/// More than for ranks of mpirun: one process may write a checkpoint while the others wait for the next program.
constexpr double defaultTimeout = 300; // seconds
constexpr milliseconds patience(50);   // between two looks for an interruption

double timeoutSeconds() {
  const std::string text = std::getenv(timeoutVariable) ? std::getenv(timeoutVariable) : "";
  if (text.empty())
    return defaultTimeout;
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value > 0))
    invalid(std::string(timeoutVariable) + " is \"" + text + "\"; expected a number of seconds above 0");
  return value;
}

std::string processText(uint32_t process) { return "process " + std::to_string(process); }

/// Differs between machines, and between two starts of one.
std::string machine() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id.empty() ? "unknown" : id;
}

std::string randomText() {
  std::random_device random;
  char text[33];
  for (int i = 0; i < 4; ++i)
    std::snprintf(text + 8 * i, 9, "%08x", random());
  return text;
}

//===- The key-value store ------------------------------------------------===//

PJRT_Error *createError(PJRT_Error_Code code, const char *message, size_t size) {
  return new PJRT_Error{code, std::string(message, size)};
}
PJRT_CallbackError errorCreator = createError;

void require(PJRT_Error *error, const std::string &what) {
  if (!error)
    return;
  const std::unique_ptr<PJRT_Error> owned(error);
  throw PluginError(owned->code, "jax.distributed: " + what + ": " + owned->message);
}

void put(const KeyValueStore &store, const std::string &key, const std::string &value) {
  PJRT_KeyValuePutCallback_Args args{};
  args.struct_size = PJRT_KeyValuePutCallback_Args_STRUCT_SIZE;
  args.key = key.data(), args.key_size = key.size();
  args.value = value.data(), args.value_size = value.size();
  args.callback_error = &errorCreator;
  args.user_arg = store.putArgument;
  require(store.put(&args), "writing " + key + " of the key-value store failed");
}

std::string get(const KeyValueStore &store, const std::string &key, milliseconds timeout, const std::string &what) {
  PJRT_KeyValueGetCallback_Args args{};
  args.struct_size = PJRT_KeyValueGetCallback_Args_STRUCT_SIZE;
  args.key = key.data(), args.key_size = key.size();
  args.timeout_in_ms = static_cast<int>(std::min<int64_t>(timeout.count(), std::numeric_limits<int>::max()));
  args.callback_error = &errorCreator;
  args.user_arg = store.getArgument;
  require(store.get(&args), what);
  std::string value(args.value, args.value_size);
  if (args.value_deleter_callback)
    args.value_deleter_callback(args.value);
  return value;
}

/// The entry of a process in the store.
struct Entry {
  std::string greeting, machine, settings;
  uint16_t port = 0;
  std::vector<std::string> addresses;

  std::string text() const {
    std::string result = greeting + "\n" + machine + "\n" + settings + "\n" + std::to_string(port);
    for (const std::string &address : addresses)
      result += "\n" + address;
    return result;
  }
  static Entry parse(const std::string &text) {
    Entry entry;
    std::istringstream lines(text);
    std::string port;
    std::getline(lines, entry.greeting);
    std::getline(lines, entry.machine);
    std::getline(lines, entry.settings);
    std::getline(lines, port);
    entry.port = static_cast<uint16_t>(std::strtoul(port.c_str(), nullptr, 10));
    for (std::string address; std::getline(lines, address);)
      entry.addresses.push_back(address);
    return entry;
  }
};

//===- Frames -------------------------------------------------------------===//

enum class FrameKind : uint32_t { Data, Failure };

/// Followed by the text (what the bytes are for, or the failure), then by the bytes.
struct FrameHead {
  FrameKind kind = FrameKind::Data;
  uint32_t textBytes = 0;
  uint64_t bytes = 0;
};

/// The exchange with one process: one frame each way at most.
struct Transfer {
  uint32_t process = 0;
  std::string frame; // head and text of the frame that is sent
  std::vector<iovec> out, in;
  size_t outAt = 0, inAt = 0; // the first that is not done
  bool receives = false;
  uint64_t expected = 0; // bytes
  FrameHead head;
  std::string text;
  uint8_t stage = 0; // of what is received: head and text, bytes

  bool sending() const { return outAt < out.size(); }
  /// Whether a part of a frame was received.
  bool inMiddle() const { return stage > 0 && receives; }
};

/// Skips the bytes that were transferred.
void advance(std::vector<iovec> &list, size_t &at, size_t bytes) {
  while (at < list.size() && bytes >= list[at].iov_len)
    bytes -= list[at++].iov_len;
  if (bytes) {
    list[at].iov_base = static_cast<std::byte *>(list[at].iov_base) + bytes;
    list[at].iov_len -= bytes;
  }
}

class Connected;

/// Some of the processes as ranks.
class ProcessRanks final : public sim::Ranks {
public:
  ProcessRanks(Connected &processes, std::vector<uint32_t> members, uint32_t rank)
      : Ranks(rank, static_cast<uint32_t>(members.size())), processes(processes), members(std::move(members)) {}
  void exchange(std::span<const Send> sends, std::span<const Receive> receives, std::string_view what) override;
  [[noreturn]] void abort(const std::string &message) override;

private:
  Connected &processes;
  const std::vector<uint32_t> members;
};

class Connected final : public Processes {
public:
  Connected(uint32_t index, std::vector<Socket> peers)
      : number(index), timeout(timeoutSeconds()), forks(forkCount()), peers(std::move(peers)) {}

  uint32_t index() const override { return number; }

  std::shared_ptr<sim::Ranks> ranks(const std::vector<uint32_t> &members) override {
    if (members.size() < 2)
      return nullptr;
    const auto own = std::ranges::find(members, number);
    return std::make_shared<ProcessRanks>(*this, members, static_cast<uint32_t>(own - members.begin()));
  }

  void exchange(std::vector<Transfer> &transfers, std::string_view what);
  void fail(const std::string &message) override;

private:
  /// Notifies the others and throws.
  [[noreturn]] void stop(const std::string &message) {
    fail(message);
    throw DeviceError(message);
  }
  std::string context(std::string_view what) const {
    return running ? running->name + " (" + running->fingerprint.substr(0, 8) + "): " + std::string(what)
                   : std::string(what);
  }
  void start(Transfer &transfer, const std::string &what) const;
  void send(Transfer &transfer, const std::string &what);
  void receive(Transfer &transfer, const std::string &what);
  /// Throws if the process has said that it failed. Its connection is between two frames.
  void lookForFailure(uint32_t process, const std::string &what, bool isNeeded);
  [[noreturn]] void ended(uint32_t process, const std::string &what) {
    stop(what + ": " + processText(process) + " has ended or failed, and " + processText(number) + " needs it");
  }

  const uint32_t number;
  const double timeout; // seconds
  const uint32_t forks;
  std::vector<Socket> peers; // by process; none for this one
  std::string failure;       // once the processes cannot run programs together any more
};

void ProcessRanks::exchange(std::span<const Send> sends, std::span<const Receive> receives, std::string_view what) {
  std::vector<Transfer> transfers(members.size());
  for (size_t i = 0; i < members.size(); ++i)
    transfers[i].process = members[i];
  for (const auto &[to, bytes] : sends)
    transfers[to].out.push_back({const_cast<std::byte *>(bytes.data()), bytes.size()});
  for (const auto &[from, bytes] : receives) {
    transfers[from].in.push_back({bytes.data(), bytes.size()});
    transfers[from].expected += bytes.size();
    transfers[from].receives = true;
  }
  std::erase_if(transfers, [](const Transfer &transfer) { return transfer.out.empty() && !transfer.receives; });
  processes.exchange(transfers, what);
}

void ProcessRanks::abort(const std::string &message) {
  processes.fail(message);
  throw DeviceError(message);
}

void Connected::start(Transfer &transfer, const std::string &what) const {
  if (transfer.out.empty())
    return;
  FrameHead head;
  head.textBytes = static_cast<uint32_t>(what.size());
  for (const iovec &part : transfer.out)
    head.bytes += part.iov_len;
  transfer.frame.assign(reinterpret_cast<const char *>(&head), sizeof head);
  transfer.frame += what;
  transfer.out.insert(transfer.out.begin(), {transfer.frame.data(), transfer.frame.size()});
}

void Connected::send(Transfer &transfer, const std::string &what) {
  msghdr message{};
  message.msg_iov = transfer.out.data() + transfer.outAt;
  constexpr size_t most = 64; // buffers of a call
  message.msg_iovlen = std::min(most, transfer.out.size() - transfer.outAt);
  const ssize_t count = ::sendmsg(*peers[transfer.process], &message, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (count >= 0)
    advance(transfer.out, transfer.outAt, static_cast<size_t>(count));
  else if (errno != EAGAIN && errno != EINTR) {
    if (!transfer.inMiddle())
      lookForFailure(transfer.process, what, true); // the process may have said why it closed the connection
    ended(transfer.process, what);
  }
}

void Connected::receive(Transfer &transfer, const std::string &what) {
  const auto read = [&](std::vector<iovec> &list, size_t &at) {
    msghdr message{};
    message.msg_iov = list.data() + at;
    constexpr size_t most = 64;
    message.msg_iovlen = std::min(most, list.size() - at);
    const ssize_t count = ::recvmsg(*peers[transfer.process], &message, MSG_DONTWAIT);
    if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
      ended(transfer.process, what);
    if (count > 0)
      advance(list, at, static_cast<size_t>(count));
    return at == list.size();
  };
  const auto readAll = [&](void *to, size_t bytes) {
    // The head and the text are small and arrive together, or soon after each other.
    std::vector<iovec> list{{to, bytes}};
    size_t at = 0;
    const auto until = Clock::now() + std::chrono::duration<double>(timeout);
    while (bytes && !read(list, at))
      if (!isReady(peers[transfer.process], POLLIN, patience) && Clock::now() > until)
        stop(what + ": " + processText(transfer.process) + " has stopped in the middle of a message");
  };
  if (transfer.stage == 0) {
    readAll(&transfer.head, sizeof transfer.head);
    transfer.text.resize(transfer.head.textBytes);
    readAll(transfer.text.data(), transfer.text.size());
    if (transfer.head.kind == FrameKind::Failure)
      stop(transfer.text);
    if (transfer.text != what || transfer.head.bytes != transfer.expected)
      stop("the processes run different programs: " + processText(transfer.process) + " is at \"" + transfer.text +
           "\" with " + std::to_string(transfer.head.bytes) + " bytes, and " + processText(number) + " at \"" + what +
           "\" with " + std::to_string(transfer.expected) +
           "; expected the same programs in the same order on all processes");
    transfer.stage = 1;
    advance(transfer.in, transfer.inAt, 0);
    transfer.receives = transfer.expected > 0;
    return;
  }
  transfer.receives = !read(transfer.in, transfer.inAt);
}

void Connected::lookForFailure(uint32_t process, const std::string &what, bool isNeeded) {
  FrameHead head;
  const ssize_t count = ::recv(*peers[process], &head, sizeof head, MSG_PEEK | MSG_DONTWAIT);
  if (count == sizeof head && head.kind == FrameKind::Failure) {
    std::string text =
        receiveText(peers[process], sizeof head + head.textBytes, Clock::now() + std::chrono::seconds(5));
    stop(text.substr(std::min(text.size(), sizeof head)));
  }
  if (count == 0 && isNeeded)
    ended(process, what);
}

void Connected::exchange(std::vector<Transfer> &transfers, std::string_view label) {
  const std::string what = context(label);
  if (forks != forkCount())
    throw DeviceError(what + ": a process that was forked is none of jax.distributed, and cannot run programs that "
                             "span processes");
  if (!failure.empty())
    throw DeviceError(what + ": programs cannot span processes any more, because one has failed: " + failure);
  for (Transfer &transfer : transfers)
    start(transfer, what);
  const auto begin = Clock::now();
  std::vector<pollfd> waiting;
  std::vector<Transfer *> of;
  auto progress = begin;
  while (true) {
    waiting.clear();
    of.clear();
    for (Transfer &transfer : transfers)
      if (transfer.sending() || transfer.receives) {
        const int events = (transfer.sending() ? POLLOUT : 0) | (transfer.receives ? POLLIN : 0);
        waiting.push_back({*peers[transfer.process], static_cast<short>(events), 0});
        of.push_back(&transfer);
      }
    if (waiting.empty())
      return;
    const int ready = ::poll(waiting.data(), waiting.size(), static_cast<int>(patience.count()));
    for (size_t i = 0; ready > 0 && i < waiting.size(); ++i) {
      Transfer &transfer = *of[i];
      if ((waiting[i].revents & (POLLIN | POLLHUP | POLLERR)) && transfer.receives)
        receive(transfer, what);
      if ((waiting[i].revents & (POLLOUT | POLLHUP | POLLERR)) && transfer.sending())
        send(transfer, what);
    }
    if (ready > 0) {
      progress = Clock::now();
      continue;
    }
    try {
      checkInterrupt();
    } catch (...) {
      fail(what + ": " + processText(number) + " was interrupted");
      throw;
    }
    for (uint32_t process = 0; process < peers.size(); ++process) {
      const auto own = std::ranges::find(of, process, &Transfer::process);
      if (peers[process] && (own == of.end() || !(*own)->inMiddle()))
        lookForFailure(process, what, own != of.end());
    }
    if (std::chrono::duration<double>(Clock::now() - progress).count() <= timeout)
      continue;
    std::string late;
    for (const Transfer *transfer : of)
      late += (late.empty() ? "" : ", ") + processText(transfer->process);
    std::ostringstream seconds;
    seconds << timeout;
    stop(what + ": nothing came from " + late + " for " + seconds.str() + " seconds (" + timeoutVariable +
         "); it hangs, cannot be reached, or has not run this program");
  }
}

void Connected::fail(const std::string &message) {
  if (!failure.empty() || forks != forkCount())
    return;
  failure = message;
  FrameHead head;
  head.kind = FrameKind::Failure;
  head.textBytes = static_cast<uint32_t>(message.size());
  std::string frame(reinterpret_cast<const char *>(&head), sizeof head);
  frame += message;
  for (const Socket &peer : peers)
    if (peer) {
      // A process that does not read is not waited for; it learns of the failure from the end of the connection.
      (void)::send(*peer, frame.data(), frame.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
      ::shutdown(*peer, SHUT_WR);
    }
}

//===- Finding each other -------------------------------------------------===//

constexpr char welcome = 'w';
constexpr size_t indexBytes = sizeof(uint32_t);

/// Connects to a process at one of its addresses; none if it cannot be reached there.
Socket connectTo(const std::string &host, const Entry &entry, uint32_t own, Clock::time_point until) {
  Socket socket = Socket::connected(host, entry.port);
  if (!socket)
    return {};
  std::string greeting = entry.greeting;
  greeting.append(reinterpret_cast<const char *>(&own), indexBytes);
  until = std::min(until, Clock::now() + std::chrono::seconds(60));
  if (!sendText(socket, greeting, until) || receiveText(socket, 1, until) != std::string(1, welcome))
    return {};
  return socket;
}

/// Accepts the processes above this one.
void acceptAll(const Socket &listener, const std::string &greeting, uint32_t own, std::vector<Socket> &peers,
               Clock::time_point until) {
  for (auto missing = peers.size() - own - 1; missing;) {
    const auto left = std::chrono::duration_cast<milliseconds>(until - Clock::now());
    if (left.count() <= 0 || !isReady(listener, POLLIN, left)) {
      uint32_t late = own + 1;
      while (peers[late])
        ++late;
      throw PluginError(PJRT_Error_Code_DEADLINE_EXCEEDED, "jax.distributed: " + processText(late) +
                                                               " has not connected to " + processText(own) + " (" +
                                                               timeoutVariable + ")");
    }
    Socket accepted(::accept4(*listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!accepted)
      continue;
    const auto soon = std::min(until, Clock::now() + std::chrono::seconds(5));
    const std::string text = receiveText(accepted, greeting.size() + indexBytes, soon);
    if (text.size() != greeting.size() + indexBytes || !text.starts_with(greeting))
      continue; // something else of the network
    uint32_t process = 0;
    std::memcpy(&process, text.data() + greeting.size(), indexBytes);
    if (process <= own || process >= peers.size() || peers[process])
      continue;
    if (!sendText(accepted, std::string_view(&welcome, 1), soon))
      continue;
    peers[process] = std::move(accepted);
    --missing;
  }
}

} // namespace

std::unique_ptr<Processes> Processes::join(uint32_t index, uint32_t count, const std::string &settings,
                                           const KeyValueStore &store) {
  if (!store.get || !store.put)
    invalid("jax.distributed has " + std::to_string(count) +
            " processes, and gives no key-value store through which they find each other");
  const auto timeout = std::chrono::duration<double>(timeoutSeconds());
  const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(timeout);
  Entry own{randomText(), machine(), settings, 0, ownAddresses()};
  const Socket listener = Socket::listening(own.port);
  const auto key = [](uint32_t process) { return "tt/process/" + std::to_string(process); };
  put(store, key(index), own.text());
  std::vector<Entry> entries(count);
  for (uint32_t process = 0; process < count; ++process) {
    if (process == index)
      continue;
    const auto left = std::max(milliseconds(1), std::chrono::duration_cast<milliseconds>(until - Clock::now()));
    entries[process] = Entry::parse(
        get(store, key(process), left, processText(index) + " waits for the devices of " + processText(process)));
    if (entries[process].settings != settings)
      invalid("jax.distributed: " + processText(process) + " has " + entries[process].settings + ", and " +
              processText(index) + " has " + settings +
              "; expected the same mesh on all processes (TTMLIR_MESH, TTMLIR_ARCH)");
  }
  std::vector<Socket> peers(count);
  for (uint32_t process = 0; process < index; ++process) {
    const Entry &entry = entries[process];
    std::vector<std::string> hosts = entry.addresses;
    if (entry.machine == own.machine)
      hosts.insert(hosts.begin(), "127.0.0.1");
    std::string tried;
    for (const std::string &host : hosts) {
      if (!peers[process])
        peers[process] = connectTo(host, entry, index, until);
      tried += (tried.empty() ? "" : ", ") + host;
    }
    if (!peers[process])
      throw PluginError(PJRT_Error_Code_UNAVAILABLE, "jax.distributed: " + processText(index) + " cannot reach " +
                                                         processText(process) + " at " + tried + ", port " +
                                                         std::to_string(entry.port));
  }
  acceptAll(listener, own.greeting, index, peers, until);
  for (const Socket &peer : peers)
    if (peer)
      peer.tune();
  return std::make_unique<Connected>(index, std::move(peers));
}

} // namespace tt::pjrt
