"""Client of inference engines, and the embedded one for demonstration and development."""

from asyncenergy_controller.engine.client import EngineClient, detect_engine
from asyncenergy_controller.engine.errors import (
    EngineError,
    EngineFailed,
    EngineNotFound,
    EngineProtocolError,
    EngineRefused,
    EngineTimeout,
    EngineUnreachable,
    ModelRefused,
    StreamBroken,
)
from asyncenergy_controller.engine.types import ChatRequest, ChatResult, EngineInfo

__all__ = [
    "ChatRequest",
    "ChatResult",
    "EngineClient",
    "EngineError",
    "EngineFailed",
    "EngineInfo",
    "EngineNotFound",
    "EngineProtocolError",
    "EngineRefused",
    "EngineTimeout",
    "EngineUnreachable",
    "ModelRefused",
    "StreamBroken",
    "detect_engine",
]
