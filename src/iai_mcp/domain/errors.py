"""Every error a person can meet, each with a stable code and a sentence that says what to do.

IaiError
├── InvalidInput          INVALID          what was given can not be used
│   ├── MissingParam      INVALID          a required parameter is absent
│   ├── NotAllowed        NOT_ALLOWED      this kind of caller may not do that
│   └── EmptyCue          INVALID          a recall without a question
├── NotFound              NOT_FOUND
├── AlreadyExists         ALREADY_EXISTS
├── NotInstalled          NOT_INSTALLED    a program or model that is needed is absent
├── Busy                  BUSY             someone else holds it right now
├── Conflict              CONFLICT         two changes of the same thing can not both be had
├── IoFailed              IO               the file system said no
│   ├── DiskFull          DISK_FULL
│   └── ReadOnly          READ_ONLY
├── PtyFailed             PTY              a terminal could not be had
├── RemoteFailed          REMOTE
├── TimedOut              TIMEOUT          it did not happen in the time given
│   └── PlaceSilent       PLACE_SILENT     a directory does not answer
├── DaemonUnreachable     UNREACHABLE      nothing answers on the socket
│   └── DaemonNotOurs     NOT_OURS         another user listens there
├── DownloadFailed        DOWNLOAD         the package registry did not give what was asked for
├── ModelDamaged          MODEL_DAMAGED    a model's files are not what they should be
└── StoreError            STORE
    ├── KeyMissing        KEY_MISSING
    ├── KeyWrong          KEY_WRONG
    ├── StoreDamaged      DAMAGED
    ├── StoreLost         LOST             there was one, and its file is gone or empty
    └── StoreTooNew       TOO_NEW
"""


class IaiError(Exception):
    """The root. `code` travels on the wire and never changes; the message is for people."""

    code = "ERROR"

    @property
    def message(self) -> str:
        return str(self.args[0]) if self.args else self.code


class InvalidInput(IaiError):
    code = "INVALID"


class MissingParam(InvalidInput):
    """`args[0]` is the full sentence; `name` the parameter that is absent."""

    def __init__(self, name: str) -> None:
        super().__init__(f"missing required param: '{name}'")
        self.name = name


class NotAllowed(InvalidInput):
    code = "NOT_ALLOWED"


class EmptyCue(InvalidInput):
    pass


class NotFound(IaiError):
    code = "NOT_FOUND"


class AlreadyExists(IaiError):
    code = "ALREADY_EXISTS"


class NotInstalled(IaiError):
    code = "NOT_INSTALLED"


class Busy(IaiError):
    code = "BUSY"


class Conflict(IaiError):
    code = "CONFLICT"


class IoFailed(IaiError):
    code = "IO"


class DiskFull(IoFailed):
    code = "DISK_FULL"


class ReadOnly(IoFailed):
    code = "READ_ONLY"


class PtyFailed(IaiError):
    code = "PTY"


class RemoteFailed(IaiError):
    code = "REMOTE"


class TimedOut(IaiError):
    code = "TIMEOUT"


class PlaceSilent(TimedOut):
    code = "PLACE_SILENT"


class DaemonUnreachable(IaiError):
    code = "UNREACHABLE"


class DaemonNotOurs(DaemonUnreachable):
    code = "NOT_OURS"


class DownloadFailed(IaiError):
    code = "DOWNLOAD"


class ModelDamaged(IaiError):
    code = "MODEL_DAMAGED"


class StoreError(IaiError):
    code = "STORE"


class KeyMissing(StoreError):
    code = "KEY_MISSING"


class KeyWrong(StoreError):
    code = "KEY_WRONG"


class StoreDamaged(StoreError):
    code = "DAMAGED"


class StoreLost(StoreError):
    code = "LOST"


class StoreTooNew(StoreError):
    code = "TOO_NEW"
