"""The name under which other programs import the socket server; it lives beside the daemon."""

from iai_mcp.daemon.socket_server import SocketServer

__all__ = ["SocketServer"]
