"""The exception tree: whose fault it is decides what the user sees.

::

    PortholeError
    ├── EnvironmentFault        one sentence and what to do        exit 3
    │   ├── WindowBlocked       the window is under the hard minimum
    │   ├── ContextOverflow     the prompt does not fit the window
    │   │   └── MessageTooLarge     one message alone does not; it was not sent
    │   ├── ConversationMissing there is no such conversation
    │   ├── ModelMissing        no such model, or none configured
    │   ├── ModelUnusable       the model is there and cannot be used
    │   │   └── TemplateUnusable    its chat template cannot render this conversation
    │   ├── MemoryShort         the machine has too little memory for the window
    │   ├── BackendUnreachable  no server, wrong port, connection lost before a reply
    │   ├── BackendFailed       the backend broke while it worked
    │   │   ├── WorkerDied      the llama.cpp child process is gone
    │   │   └── BackendSilent   nothing was heard for longer than allowed
    │   ├── BackendRefused      the server answered, with an error of its own
    │   ├── StoreUnusable       the database cannot be opened or written
    │   │   ├── StoreNewer      written by a newer version
    │   │   ├── StoreCorrupt    unreadable; set aside, never overwritten
    │   │   └── StoreReadOnly   no permission, disk full
    │   ├── SettingsUnusable    the settings file cannot be read or written
    │   └── DownloadFailed      a model could not be fetched
    ├── Stopped                 the user's stop: silent                exit 130
    └── Bug                     ours: trace and saved report           exit 4

Everything else that escapes is a bug too. Foreign exceptions (sqlite3, httpx, ollama, OS) are
translated where they enter: the store, the backends, the settings.
"""


class PortholeError(Exception):
    """Root of everything this application raises on purpose."""


class EnvironmentFault(PortholeError):
    """Something outside the application is wrong; the user can mend it.

    Args:
        sentence: what is wrong, one sentence, with a full stop.
        remedy: what to do about it, one or more sentences; may be empty.
    """

    def __init__(self, sentence: str, remedy: str = "") -> None:
        super().__init__(sentence, remedy)
        self.sentence = sentence
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.sentence} {self.remedy}".strip()


class WindowBlocked(EnvironmentFault):
    """The context window is below the hard minimum; no request may be sent (SPEC1 12.3.3).

    Args:
        sentence: as in EnvironmentFault.
        remedy: as in EnvironmentFault.
        window_tokens: the window that is too small, 0 when unknown.
    """

    def __init__(self, sentence: str, remedy: str = "", *, window_tokens: int = 0) -> None:
        super().__init__(sentence, remedy)
        self.window_tokens = window_tokens


class ContextOverflow(EnvironmentFault):
    """The prompt does not fit the context window.

    Args:
        sentence: as in EnvironmentFault.
        remedy: as in EnvironmentFault.
        prompt_tokens: size of the refused prompt in tokens, 0 when unknown.
        window_tokens: the window it was refused for in tokens, 0 when unknown.
    """

    def __init__(
        self, sentence: str, remedy: str = "", *, prompt_tokens: int = 0, window_tokens: int = 0
    ) -> None:
        super().__init__(sentence, remedy)
        self.prompt_tokens = prompt_tokens
        self.window_tokens = window_tokens


class MessageTooLarge(ContextOverflow):
    """One message is larger than any prompt of its conversation may have room for; it was not sent.

    Args:
        sentence: as in EnvironmentFault.
        remedy: as in EnvironmentFault.
        prompt_tokens: size of the message in tokens.
        window_tokens: the window in tokens.
        room_tokens: the most a message may have here, in tokens.
    """

    def __init__(
        self,
        sentence: str,
        remedy: str = "",
        *,
        prompt_tokens: int = 0,
        window_tokens: int = 0,
        room_tokens: int = 0,
    ) -> None:
        super().__init__(
            sentence, remedy, prompt_tokens=prompt_tokens, window_tokens=window_tokens
        )
        self.room_tokens = room_tokens


class ConversationMissing(EnvironmentFault):
    """There is no such conversation, or it was deleted."""


class ModelMissing(EnvironmentFault):
    """The model named does not exist, or no model is configured."""


class ModelUnusable(EnvironmentFault):
    """The model exists and cannot be used: damaged file, unsupported architecture."""


class TemplateUnusable(ModelUnusable):
    """The model's chat template fails, takes too long, or would lose a message."""


class MemoryShort(EnvironmentFault):
    """Weights and KV cache for this window do not fit the machine's memory."""


class BackendUnreachable(EnvironmentFault):
    """No server answers at the configured address."""


class BackendFailed(EnvironmentFault):
    """The backend broke while it worked; what it had written is kept."""


class WorkerDied(BackendFailed):
    """The llama.cpp worker process ended by itself or was killed."""


class BackendSilent(BackendFailed):
    """The backend said nothing for longer than the silence limit."""


class BackendRefused(EnvironmentFault):
    """The server answered with an error of its own.

    Args:
        sentence: as in EnvironmentFault.
        remedy: as in EnvironmentFault.
        status: HTTP status, 0 when there was none.
        detail: the server's own words.
    """

    def __init__(
        self, sentence: str, remedy: str = "", *, status: int = 0, detail: str = ""
    ) -> None:
        super().__init__(sentence, remedy)
        self.status = status
        self.detail = detail


class StoreUnusable(EnvironmentFault):
    """The conversation database cannot be opened, read or written."""


class StoreNewer(StoreUnusable):
    """The database was written by a newer version and is left untouched."""


class StoreCorrupt(StoreUnusable):
    """The database is damaged; it was set aside and is not overwritten."""


class StoreReadOnly(StoreUnusable):
    """The database cannot be written: permission, read-only place, disk full."""


class SettingsUnusable(EnvironmentFault):
    """The settings file cannot be read or written."""


class DownloadFailed(EnvironmentFault):
    """A model could not be fetched: offline, refused, or its checksum is wrong."""


class Stopped(PortholeError):
    """The user stopped the work. Never shown, never retried."""


class Bug(PortholeError):
    """An assumption of ours does not hold; reported with a trace."""
