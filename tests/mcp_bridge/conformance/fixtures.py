"""The tools, resources and prompts that the conformance suite calls by name, mounted beside the product's own.

They exist under the test settings alone. What the suite asks for beyond them needs streams, logging or tasks, which
this server does not have.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any, cast

from django.core import signing
from mcp_types import (
    INVALID_PARAMS,
    MISSING_REQUIRED_CLIENT_CAPABILITY,
    AudioContent,
    BlobResourceContents,
    CallToolResult,
    CompleteResult,
    Completion,
    CompletionsCapability,
    ContentBlock,
    CreateMessageRequest,
    CreateMessageRequestParams,
    ElicitRequest,
    ElicitRequestFormParams,
    EmbeddedResource,
    GetPromptResult,
    ImageContent,
    InputRequiredResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListRootsRequest,
    ListToolsResult,
    Prompt,
    PromptArgument,
    PromptMessage,
    PromptsCapability,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    Result,
    SamplingMessage,
    TextContent,
    TextResourceContents,
    Tool,
)

from mcp_bridge import protocol
from mcp_bridge.jsonrpc import ProtocolError
from mcp_bridge.protocol import Exchange

Handler = Callable[[Exchange], Result]

PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=="
WAV = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA="
TEMPLATE = "test://template/{id}/data"
CACHED: dict[str, Any] = {"ttl_ms": 60_000, "cache_scope": "private"}
SALT = "conformance"


def text(said: str) -> TextContent:
    """A text block."""
    return TextContent(type="text", text=said)


def image() -> ImageContent:
    """A picture of one pixel."""
    return ImageContent(type="image", data=PNG, mime_type="image/png")


def embedded(uri: str, mime_type: str, said: str) -> EmbeddedResource:
    """A resource inside an answer."""
    return EmbeddedResource(type="resource", resource=TextResourceContents(uri=uri, mime_type=mime_type, text=said))


PLAIN_TOOLS: dict[str, list[ContentBlock]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [image()],
    "test_audio_content": [AudioContent(type="audio", data=WAV, mime_type="audio/wav")],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        image(),
        embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
    ],
    "test_logging_tool": [text("ok")],
}
ASKING_TOOLS = (
    "test_input_required_result_elicitation",
    "test_input_required_result_sampling",
    "test_input_required_result_list_roots",
    "test_input_required_result_request_state",
    "test_input_required_result_multiple_inputs",
    "test_input_required_result_multi_round",
    "test_input_required_result_tampered_state",
    "test_input_required_result_capabilities",
)
PROMPTS: dict[str, tuple[list[str], Callable[[dict[str, str]], list[ContentBlock]]]] = {
    "test_simple_prompt": ([], lambda _: [text("This is a simple prompt for testing.")]),
    "test_prompt_with_arguments": (
        ["arg1", "arg2"],
        lambda given: [text(f"Prompt with arguments: arg1='{given['arg1']}', arg2='{given['arg2']}'")],
    ),
    "test_prompt_with_embedded_resource": (
        ["resourceUri"],
        lambda given: [
            embedded(given["resourceUri"], "text/plain", "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ],
    ),
    "test_prompt_with_image": ([], lambda _: [image(), text("Please analyze the image above.")]),
}


def mount() -> None:
    """Add everything to the method table of this process."""
    methods = cast(dict[str, Handler], protocol.METHODS)
    methods |= {
        "tools/list": _listing(methods["tools/list"]),
        "tools/call": _calling(methods["tools/call"]),
        "resources/list": _list_resources,
        "resources/templates/list": _list_templates,
        "resources/read": _reading(methods["resources/read"]),
        "prompts/list": _list_prompts,
        "prompts/get": _get_prompt,
        "completion/complete": _complete,
    }
    for with_app in (False, True):
        capabilities = protocol._capabilities(with_app=with_app)
        capabilities.prompts = PromptsCapability(list_changed=False)
        capabilities.completions = CompletionsCapability()


def _listing(own: Handler) -> Handler:
    names = (*PLAIN_TOOLS, *ASKING_TOOLS, "test_error_handling", "test_missing_capability")

    def list_tools(exchange: Exchange) -> Result:
        result = cast(ListToolsResult, own(exchange))
        more = [Tool(name=name, description=name, input_schema={"type": "object"}) for name in names]
        return ListToolsResult(tools=[*result.tools, *more], **CACHED)

    return list_tools


def _calling(own: Handler) -> Handler:
    def call_tool(exchange: Exchange) -> Result:
        name = exchange.params["name"]
        if name in PLAIN_TOOLS:
            return CallToolResult(content=PLAIN_TOOLS[name])
        if name == "test_error_handling":
            return CallToolResult(content=[text("This tool intentionally returns an error for testing")], is_error=True)
        if name == "test_missing_capability":
            raise ProtocolError(
                MISSING_REQUIRED_CLIENT_CAPABILITY,
                "sampling is required",
                data={"requiredCapabilities": {"sampling": {}}},
            )
        return _ask(exchange) if name in ASKING_TOOLS else own(exchange)

    return call_tool


def _question(name: str) -> ElicitRequest:
    schema = {"type": "object", "properties": {name: {"type": "string"}}, "required": [name]}
    return ElicitRequest(params=ElicitRequestFormParams(message=f"{name}?", requested_schema=schema))


def _ask(exchange: Exchange) -> Result:
    name, given = exchange.params["name"], exchange.params.get("inputResponses") or {}
    state = _state(exchange.params.get("requestState"))
    needed = {key: request for key, request in _requests(name, exchange, state).items() if key not in given}
    if needed:
        signed = signing.dumps({"seen": [*state, *given]}, salt=SALT) if _keeps_state(name) else None
        return InputRequiredResult(input_requests=needed, request_state=signed)
    return CallToolResult(content=[text(("state-ok " if state or _keeps_state(name) else "") + json.dumps(given))])


def _keeps_state(name: str) -> bool:
    return name.endswith(("state", "multi_round", "multiple_inputs"))


def _state(signed: str | None) -> list[str]:
    try:
        return list(signing.loads(signed, salt=SALT)["seen"]) if signed else []
    except signing.BadSignature:
        raise ProtocolError(INVALID_PARAMS, "Invalid requestState") from None


def _requests(name: str, exchange: Exchange, seen: list[str]) -> dict[str, Any]:
    sampling = CreateMessageRequest(
        params=CreateMessageRequestParams(
            messages=[SamplingMessage(role="user", content=text("What is the capital of France?"))], max_tokens=100
        )
    )
    declared = exchange.message.meta.get("io.modelcontextprotocol/clientCapabilities", {})
    by_name: dict[str, dict[str, Any]] = {
        "test_input_required_result_sampling": {"capital_question": sampling},
        "test_input_required_result_list_roots": {"client_roots": ListRootsRequest()},
        "test_input_required_result_multiple_inputs": {
            "user_name": _question("name"),
            "greeting": sampling,
            "client_roots": ListRootsRequest(),
        },
        "test_input_required_result_multi_round": {"step2": _question("color")}
        if "step1" in [*seen, *(exchange.params.get("inputResponses") or {})]
        else {"step1": _question("name")},
        "test_input_required_result_capabilities": (
            {"confirm": _question("ok")} if "elicitation" in declared else {"capital_question": sampling}
        ),
        "test_input_required_result_elicitation": {"user_name": _question("name")},
    }
    return by_name.get(name, {"confirm": _question("ok")})


def _list_resources(_exchange: Exchange) -> Result:
    named = {"test://static-text": "text/plain", "test://static-binary": "image/png"}
    return ListResourcesResult(
        resources=[Resource(uri=uri, name=uri, mime_type=mime_type) for uri, mime_type in named.items()], **CACHED
    )


def _list_templates(_exchange: Exchange) -> Result:
    template = ResourceTemplate(uri_template=TEMPLATE, name="template", mime_type="application/json")
    return ListResourceTemplatesResult(resource_templates=[template], **CACHED)


def _reading(own: Handler) -> Handler:
    def read_resource(exchange: Exchange) -> Result:
        uri = str(exchange.params["uri"])
        contents: list[TextResourceContents | BlobResourceContents]
        if uri == "test://static-binary":
            contents = [BlobResourceContents(uri=uri, mime_type="image/png", blob=PNG)]
        elif uri == "test://static-text":
            said = "This is the content of the static text resource."
            contents = [TextResourceContents(uri=uri, mime_type="text/plain", text=said)]
        elif uri.startswith("test://template/"):
            number = uri.split("/")[3]
            data = json.dumps({"id": number, "templateTest": True, "data": f"Data for ID: {number}"})
            contents = [TextResourceContents(uri=uri, mime_type="application/json", text=data)]
        else:
            return own(exchange)
        return ReadResourceResult(contents=contents, **CACHED)

    return read_resource


def _list_prompts(_exchange: Exchange) -> Result:
    prompts = [
        Prompt(
            name=name,
            description=name,
            arguments=[PromptArgument(name=argument, description=argument, required=True) for argument in arguments],
        )
        for name, (arguments, _) in PROMPTS.items()
    ]
    return ListPromptsResult(prompts=prompts, **CACHED)


def _get_prompt(exchange: Exchange) -> Result:
    name = exchange.params["name"]
    if name == "test_input_required_result_prompt" and not exchange.params.get("inputResponses"):
        return InputRequiredResult(input_requests={"user_context": _question("context")})
    _, blocks = PROMPTS.get(name, PROMPTS["test_simple_prompt"])
    given = exchange.params.get("arguments") or {}
    return GetPromptResult(messages=[PromptMessage(role="user", content=block) for block in blocks(given)])


def _complete(_exchange: Exchange) -> Result:
    return CompleteResult(completion=Completion(values=[], total=0, has_more=False))
