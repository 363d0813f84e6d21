# SPDX-License-Identifier: Apache-2.0
"""Sends tensors from one mesh to another: sockets, whose two ends are made together or find each other."""

from __future__ import annotations

import fcntl
import mmap
import os
import re
import struct
import time
from collections import deque
from pathlib import Path
from typing import Any

from _ttmlir_runtime.runtime import Device, Tensor
from _ttmlir_runtime.ttnn import BufferType

from ..functions import ops
from .fabric import FabricNodeId, MeshCoreCoord, MeshId
from .geometry import MeshCoordinate, SubDeviceId
from .modes import SocketEndpoint
from .records import Record, field

__all__ = [
    "InterProcessCounterChannel",
    "MeshSocket",
    "SocketConfig",
    "SocketConnection",
    "SocketMemoryConfig",
    "create_socket_pair",
]


class InterProcessCounterChannel:
    """Counts what one process has done for another one, in shared memory of a name.

    The process that makes it owns the memory, which ends with shutdown(); others connect to it.

    Raises:
        TypeError, ValueError: the name is no text, or not of letters, digits, "_", "-" and ".".
        RuntimeError: another process owns memory of this name.
    """

    _HELD = struct.Struct("<QQ")  # how many are counted, and how many of them were taken

    def __init__(self, shm_name: str) -> None:
        self._path = self._file(shm_name)
        self.shm_name = shm_name
        self._owner = True
        self._clean = not self._path.exists()
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            # Held by the owner as long as it runs; the second byte guards the counts.
            fcntl.lockf(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, self._HELD.size)
        except OSError:
            os.close(self._handle)
            raise RuntimeError(
                f"ttnn.InterProcessCounterChannel: another process owns {shm_name!r}; connect to it"
            ) from None
        os.ftruncate(self._handle, self._HELD.size)
        self._map()
        self._counts(lambda counted, taken: (0, 0))

    @staticmethod
    def _file(name: Any) -> Path:
        if not isinstance(name, str):
            raise TypeError(f"ttnn.InterProcessCounterChannel: shm_name is {name!r}; expected text")
        if not re.fullmatch(r"/?[\w.-]+", name):
            raise ValueError(
                f'ttnn.InterProcessCounterChannel: shm_name is {name!r}; expected letters, digits, "_", "-" and "."'
            )
        return Path("/dev/shm", f"ttnn_counter_{name.removeprefix('/')}")

    @classmethod
    def connect(cls, shm_name: str, connect_timeout_ms: int = 30000) -> InterProcessCounterChannel:
        """Returns a channel of a name that another process has made, or this one.

        Raises:
            TimeoutError: no process makes one in this time.
        """
        path, until = cls._file(shm_name), time.monotonic() + connect_timeout_ms / 1000
        while not path.exists() or path.stat().st_size < cls._HELD.size:
            if time.monotonic() >= until:
                raise TimeoutError(
                    f"ttnn.InterProcessCounterChannel: no process has made {shm_name!r} in {connect_timeout_ms} ms"
                )
            time.sleep(0.001)
        found = cls.__new__(cls)
        found._path, found.shm_name, found._owner, found._clean = path, shm_name, False, True
        found._handle = os.open(path, os.O_RDWR)
        found._map()
        return found

    def _map(self) -> None:
        self._memory: mmap.mmap | None = mmap.mmap(self._handle, self._HELD.size)

    def _counts(self, change: Any) -> tuple[int, int]:
        """Changes the counts, and returns what they were."""
        if self._memory is None:
            raise RuntimeError(f"ttnn.InterProcessCounterChannel: {self.shm_name!r} is shut down")
        fcntl.lockf(self._handle, fcntl.LOCK_EX, 1, self._HELD.size + 1)
        try:
            counted, taken = self._HELD.unpack_from(self._memory)
            self._HELD.pack_into(self._memory, 0, *change(counted, taken))
        finally:
            fcntl.lockf(self._handle, fcntl.LOCK_UN, 1, self._HELD.size + 1)
        return counted, taken

    def inject(self, n: int) -> None:
        """Counts n more.

        Raises:
            ValueError: n is negative, or the count would need more than 64 bits.
        """
        if type(n) is not int or n < 0:
            raise ValueError(f"ttnn.InterProcessCounterChannel.inject: n is {n!r}; expected 0 or more")

        def more(counted: int, taken: int) -> tuple[int, int]:
            if counted + n >= 2**64:
                raise ValueError(f"ttnn.InterProcessCounterChannel.inject: n is {n}; the count has 64 bits")
            return counted + n, taken

        self._counts(more)

    def pending(self) -> int:
        """Returns how many are counted and not taken."""
        counted, taken = self._counts(lambda counted, taken: (counted, taken))
        return counted - taken

    def try_consume_all(self) -> int:
        """Takes all that are counted, and returns how many; 0 without any."""
        counted, taken = self._counts(lambda counted, taken: (counted, counted))
        return counted - taken

    def had_clean_prior_shutdown(self) -> bool:
        """Returns whether the last owner of this name has shut it down."""
        return self._clean

    def shutdown(self) -> None:
        """Leaves the memory, which ends with its owner. A second call does nothing."""
        if self._memory is None:
            return
        self._memory.close()
        self._memory = None
        if self._owner:
            self._path.unlink(missing_ok=True)
        os.close(self._handle)


class SocketConnection(Record):
    """Holds the core that sends and the core that receives."""

    sender_core = field(MeshCoreCoord)
    receiver_core = field(MeshCoreCoord)


class SocketMemoryConfig(Record):
    """Says where the receiver keeps what is on its way, and how many bytes of it."""

    socket_storage_type = field(BufferType)
    fifo_size = field(int, least=1)
    sender_sub_device = field(SubDeviceId, None)
    receiver_sub_device = field(SubDeviceId, None)
    per_core_allocation = field(bool, False)


class SocketConfig(Record):
    """Holds the connections of a socket, its memory, and the processes or meshes of its ends."""

    connections = field([SocketConnection])
    memory_config = field(SocketMemoryConfig)
    sender_rank = field(int, None, least=0)
    receiver_rank = field(int, None, least=0)
    sender_mesh_id = field(int, None, by_name=True, least=0)
    receiver_mesh_id = field(int, None, by_name=True, least=0)


def _cores(function: str, device: Any, config: Any, end: str) -> list[MeshCoreCoord]:
    found: Any = device
    if not isinstance(device, Device):
        raise TypeError(f"ttnn.{function}: {end} device is {device!r}; expected an open device")
    if not isinstance(config, SocketConfig):
        raise TypeError(f"ttnn.{function}: config is {config!r}; expected a ttnn.SocketConfig")
    cores = [getattr(each, f"{end}_core") for each in config.connections]
    if not cores:
        raise ValueError(f"ttnn.{function}: config has no connections; expected at least one")
    rows, columns = device.get_mesh_shape()
    size = found.compute_with_storage_grid_size()
    for core in cores:
        row, column = core.device_coord
        if row >= rows or column >= columns or core.core_coord.x >= size.x or core.core_coord.y >= size.y:
            raise ValueError(
                f"ttnn.{function}: {end} core {core!r}; there are {rows}x{columns} devices of {size.x}x{size.y} cores"
            )
    return cores


class MeshSocket:
    """Is one end of a socket; create_socket_pair makes both.

    Raises:
        ValueError: a socket is made alone: the other end would be in another process.
    """

    def __init__(self, device: Device, config: SocketConfig) -> None:
        raise ValueError(
            "ttnn.MeshSocket: one end alone belongs to a launch of several processes, which is not simulated; call "
            "ttnn.create_socket_pair"
        )

    _device: Any
    _config: SocketConfig
    _end: Any
    _cores: list[MeshCoreCoord]
    _sent: deque[Tensor]

    def get_active_cores(self) -> list[MeshCoreCoord]:
        """Returns the cores of this end."""
        return list(self._cores)

    def get_config_buffer_address(self) -> int:
        """Raises an error: the simulator keeps what a socket says outside of the memory of cores.

        Raises:
            RuntimeError: always.
        """
        raise RuntimeError("ttnn.MeshSocket.get_config_buffer_address: sockets have no buffer in L1 here")

    def get_connection_config(self) -> list[SocketConnection]:
        """Returns the connections."""
        return list(self._config.connections)

    def get_fabric_node_id(self, endpoint: Any, coord: MeshCoordinate) -> FabricNodeId:
        """Returns the chip of a place of this end's mesh."""
        if endpoint is not self._end:
            raise ValueError(f"ttnn.MeshSocket.get_fabric_node_id: endpoint is {endpoint!r}; this end is {self._end!r}")
        return FabricNodeId(MeshId(0), self._device.get_device_id(coord))

    def get_mesh_device(self) -> Device:
        """Returns the device of this end."""
        return self._device

    def get_socket_endpoint_type(self) -> Any:
        """Returns which end this is."""
        return self._end

    def __repr__(self) -> str:
        return f"MeshSocket({self._end.name}, {self._cores})"


def create_socket_pair(
    sender_mesh_device: Device, receiver_mesh_device: Device, socket_config: SocketConfig
) -> tuple[MeshSocket, MeshSocket]:
    """Returns the two ends of a socket between two devices.

    Raises:
        TypeError: an argument is of another type.
        ValueError: there is no connection, or a core is not there.
    """
    sent: deque[Tensor] = deque()
    ends = []
    for end, device, name in (
        (SocketEndpoint.SENDER, sender_mesh_device, "sender"),
        (SocketEndpoint.RECEIVER, receiver_mesh_device, "receiver"),
    ):
        socket = MeshSocket.__new__(MeshSocket)
        socket._cores = _cores("create_socket_pair", device, socket_config, name)
        socket._device, socket._config, socket._end, socket._sent = device, socket_config, end, sent
        ends.append(socket)
    return ends[0], ends[1]


def _check(function: str, name: str, tensor: Any, socket: Any, end: Any) -> None:
    if not isinstance(tensor, Tensor):
        raise TypeError(f"ttnn.experimental.{function}: {name} is {tensor!r}; expected a ttnn.Tensor")
    if not isinstance(socket, MeshSocket):
        raise TypeError(f"ttnn.experimental.{function}: mesh_socket is {socket!r}; expected a ttnn.MeshSocket")
    if socket._end is not end:
        raise ValueError(
            f"ttnn.experimental.{function}: mesh_socket is the {socket._end.name}; expected the {end.name}"
        )
    if tensor.device() is not socket._device:
        raise ValueError(f"ttnn.experimental.{function}: {name} does not lie on the device of mesh_socket")


def _send(function: str, input_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    _check(function, "input_tensor", input_tensor, mesh_socket, SocketEndpoint.SENDER)
    mesh_socket._sent.append(ops.from_device(input_tensor))
    return []


def _receive(function: str, output_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    _check(function, "output_tensor", output_tensor, mesh_socket, SocketEndpoint.RECEIVER)
    if not mesh_socket._sent:
        raise RuntimeError(f"ttnn.experimental.{function}: nothing was sent, so that the call would wait forever")
    values, into = mesh_socket._sent[0], output_tensor
    found = (list(values.shape), values.dtype, values.layout)
    if found != (list(into.shape), into.dtype, into.layout):
        raise ValueError(
            f"ttnn.experimental.{function}: output_tensor is {list(into.shape)} {into.dtype} {into.layout}; sent was "
            f"{found[0]} {found[1]} {found[2]}"
        )
    ops.copy_host_to_device_tensor(mesh_socket._sent.popleft(), output_tensor)
    return [output_tensor]


def send_async(input_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    """Sends a tensor through a socket.

    Raises:
        TypeError, ValueError: no tensor, no socket, the end that receives, or a tensor on another device.
    """
    return _send("send_async", input_tensor, mesh_socket)


def recv_async(output_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    """Writes the first tensor that was sent through a socket to a tensor of the same shape, type and layout.

    Raises:
        TypeError, ValueError: no tensor, no socket, the end that sends, or a tensor that differs.
        RuntimeError: nothing was sent.
    """
    return _receive("recv_async", output_tensor, mesh_socket)


def send_direct_async(input_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    """Sends a tensor through a socket, as send_async does."""
    return _send("send_direct_async", input_tensor, mesh_socket)


def recv_direct_async(output_tensor: Tensor, mesh_socket: MeshSocket) -> list[Tensor]:
    """Writes the first tensor that was sent through a socket to another one, as recv_async does."""
    return _receive("recv_direct_async", output_tensor, mesh_socket)


SOCKETS: dict[str, Any] = {
    f"experimental.{each.__name__}": each for each in (send_async, recv_async, send_direct_async, recv_direct_async)
}
