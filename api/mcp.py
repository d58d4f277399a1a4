"""The MCP server: read-only tools over streamable HTTP, at exactly `/mcp`, without a key."""

from collections.abc import MutableMapping
from typing import Any, cast

from asgiref.sync import sync_to_async
from django.conf import settings
from mcp.server import MCPServer
from mcp.server.transport_security import TransportSecuritySettings
from mcp.types import ToolAnnotations
from pydantic_core import to_json

from api.errors import error_body
from api.mcp_tools import TOOLS
from asyncenergy.bodylimit import AsgiApp, Receive, Send
from asyncenergy.throttle import wait_s

PATH = "/mcp"
INSTRUCTIONS = (
    "Measured joules per correct answer of local AI inference. Name the energy boundary, the tier and the data version "
    "with every figure. Null is undefined or not measured, never 0. Call methodology before you explain a number."
)
SCHEMES = ("http", "https")
READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, destructive_hint=False, open_world_hint=False)


def make_server() -> MCPServer:
    server = MCPServer("Async Energy", instructions=INSTRUCTIONS, log_level="WARNING")
    for tool in TOOLS:
        server.add_tool(tool, annotations=READ_ONLY)
    return server


def with_mcp(site: AsgiApp) -> AsgiApp:
    """Hand lifespan and exactly `/mcp` to the SDK's application, everything else to the site."""
    hosts = [name for host in settings.ALLOWED_HOSTS for name in _with_port(host)]
    origins = [f"{scheme}://{host}" for scheme in SCHEMES for host in hosts]
    app = make_server().streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(allowed_hosts=hosts, allowed_origins=origins),
    )
    served = cast(AsgiApp, app)

    async def serve(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            return await served(scope, receive, send)
        if scope["type"] != "http" or scope["path"] != PATH:
            return await site(scope, receive, send)
        waiting_s = await sync_to_async(wait_s, thread_sensitive=False)("calls", account=None, address=_address(scope))
        return await (served(scope, receive, send) if waiting_s is None else _throttled(waiting_s, send))

    return serve


def _with_port(host: str) -> tuple[str, str]:
    """The SDK compares whole Host headers, and knows no subdomains."""
    bare = host.lstrip(".")
    return bare, f"{bare}:*"


def _address(scope: MutableMapping[str, Any]) -> str:
    """Of the caller; behind proxies of ours, the address that the outermost of them saw."""
    client = scope.get("client")
    direct = str(client[0]) if client else ""
    forwarded = dict(scope["headers"]).get(b"x-forwarded-for", b"").decode("latin-1")
    seen = [address.strip() for address in forwarded.split(",") if address.strip()]
    return seen[-min(settings.PROXY_COUNT, len(seen))] if settings.PROXY_COUNT and seen else direct


async def _throttled(waiting_s: int, send: Send) -> None:
    body = to_json(error_body(f"Too many calls. Try again in {waiting_s} s.", "throttled"))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", str(waiting_s).encode()),
    ]
    await send({"type": "http.response.start", "status": 429, "headers": headers})
    await send({"type": "http.response.body", "body": body})
