"""The hook's side of memory: transcripts in, to the daemon if it answers, else into the spool.

It runs at the end of every turn of every session, in a process of its own: standard library only,
nothing imported that is not needed, and no failure ever reaches the session it serves.
"""

TYPE_CHECKING = False  # `typing` would cost more than the whole capture of a short session
if TYPE_CHECKING:
    import os
    from pathlib import Path


def write_deferred_captures(
    session_id: str, transcript_path: "str | os.PathLike[str]", cwd: "str | None" = None
) -> "Path":
    """Write the whole transcript into one new spool file and return that file's path.

    A transcript that is missing or can not be read gives a file with a header only. `cwd`
    defaults to the process's.

    Raises:
        OSError: the spool itself can not be written.
    """
    from pathlib import Path

    from iai_mcp.capture.delivery import spool_transcript

    return Path(spool_transcript(str(transcript_path), session_id, cwd))
