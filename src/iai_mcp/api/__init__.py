"""What can be called by name: how parameters are read, which use case answers, how it is shown.

One entry per method, in one file per subject; `table` gathers them for the socket, MCP, HTTP and the
command line.
"""
