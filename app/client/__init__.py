"""Everything a window can ask for, and what it is told; knows no Qt but where pictures are read.

Lives on the engine's loop thread and is the only user of the workplace there.
"""

from app.client.client import Client
from app.client.context import DRAFT, PromptText
from app.client.system import SystemPrompt
from app.client.values import (
    ContextFacts,
    Conversation,
    ConversationRow,
    Digesting,
    DraftImages,
    Failed,
    Fetching,
    GuardState,
    ItemsChanged,
    Meter,
    ModelRow,
    ModelsChanged,
    ModelState,
    Notice,
    PartsWaiting,
    Pull,
    Pulling,
    PullLayer,
    RowsChanged,
    Told,
    WindowKnown,
)

__all__ = [
    "DRAFT",
    "Client",
    "ContextFacts",
    "Conversation",
    "ConversationRow",
    "Digesting",
    "DraftImages",
    "Failed",
    "Fetching",
    "GuardState",
    "ItemsChanged",
    "Meter",
    "ModelRow",
    "ModelState",
    "ModelsChanged",
    "Notice",
    "PartsWaiting",
    "PromptText",
    "Pull",
    "PullLayer",
    "Pulling",
    "RowsChanged",
    "SystemPrompt",
    "Told",
    "WindowKnown",
]
