"""Puts the archive into its place over there. Travels as text, and runs before anything of us is there.

The archive comes on stdin, `SIZE` bytes of it. All or nothing: what can not be finished is removed.
"""

import hashlib
import json
import os
import shutil
import sys
import zipfile

MARK, DIGEST, SIZE = "", "", 0  # filled in by `script`


def place() -> str:
    """`~/.iai-mcp/far/<digest>`, with everything of the archive in it."""
    home = os.path.expanduser("~")
    far = os.path.join(home, ".iai-mcp", "far")
    os.makedirs(far, mode=0o700, exist_ok=True)
    os.chmod(far, 0o700)
    final = os.path.join(far, DIGEST)
    fresh = f"{final}.{os.getpid()}.new"
    os.mkdir(fresh, 0o700)
    try:
        data = received()
        with open(os.path.join(fresh, "far.pyz"), "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        with zipfile.ZipFile(os.path.join(fresh, "far.pyz")) as archive:
            archive.extractall(fresh)
        with open(os.path.join(fresh, "python"), "w") as out:
            out.write(sys.executable)
        shutil.rmtree(final, ignore_errors=True)  # one whose Python has gone
        os.rename(fresh, final)
    except BaseException:
        shutil.rmtree(fresh, ignore_errors=True)
        raise
    return final


def received() -> bytes:
    data = sys.stdin.buffer.read(SIZE)
    if hashlib.sha256(data).hexdigest() != DIGEST:
        raise ValueError("the archive was damaged on its way: try again")
    return data


def install() -> None:
    os.umask(0o077)
    try:
        final = place()
    except (OSError, ValueError) as refused:
        why = refused.strerror if isinstance(refused, OSError) else str(refused)
        full = isinstance(refused, OSError) and refused.errno in (28, 122)  # ENOSPC, EDQUOT
        sys.stdout.write("\n" + MARK + json.dumps({"refused": why, "full": full}) + "\n")
        sys.stdout.flush()
        return
    main = os.path.join(final, "iai_mcp", "remote", "__main__.py")
    # S606: no shell. This becomes the service itself.
    os.execv(sys.executable, [sys.executable, "-I", "-S", main, "serve", *sys.argv[1:]])  # noqa: S606


def script(source: str, mark: str, digest: str, size: int) -> bytes:
    """This file as one line of Python, for one archive."""
    import base64

    blank = 'MARK, DIGEST, SIZE = "", "", 0'
    filled = source.replace(blank, f"MARK, DIGEST, SIZE = {mark!r}, {digest!r}, {size}", 1)
    packed = base64.b64encode(f"{filled}\ninstall()\n".encode()).decode()
    return f"import base64; exec(base64.b64decode('{packed}'))\n".encode()
