"""Where an agent starts: what this service is, how to sign in, and where everything is."""

from __future__ import annotations

from string import Template

from django.conf import settings
from pydantic import ConfigDict, Field

from accounts.auth import Principal
from flashcards.envelope import Reply
from flashcards.operation import Call, Data, Params, operation


class DiscoveryParams(Params):
    """No arguments; what chat applications append to a link (`?utm_source=…`) is left aside."""

    model_config = ConfigDict(extra="ignore")


class Service(Data):
    """What this is."""

    name: str
    version: str
    description: str


class Authentication(Data):
    """How a command-line agent signs its user in."""

    type: str
    send_code_url: str
    verify_code_url: str


class Surface(Data):
    """Where the operations are."""

    account_url: str
    workspaces_url: str
    sql_query_url: str
    sql_execute_url: str
    guide_url_template: str = Field(description="Put one of the guide topics in place of {topic}.")
    review_next_url: str
    review_reveal_url: str
    review_submit_url: str


class McpAuthorization(Data):
    """OAuth 2.1 for MCP clients; they read the rest from these addresses."""

    type: str
    authorization_server: str
    authorization_server_metadata_url: str
    protected_resource_metadata_url: str


class McpApiKeyBearer(Data):
    """The other way into the MCP endpoint: the API key of the REST sign-in."""

    type: str
    header: str
    scheme: str
    description: str


class Mcp(Data):
    """The MCP endpoint."""

    url: str
    description: str
    authorization: McpAuthorization
    api_key_bearer: McpApiKeyBearer


class DiscoveryData(Data):
    """Everything an agent needs to begin."""

    service: Service
    authentication: Authentication
    capabilities_before_login: list[str]
    capabilities_after_login: list[str]
    auth_base_url: str
    api_base_url: str
    surface: Surface
    mcp: Mcp


@operation(
    title="Discover the service",
    params=DiscoveryParams,
    data=DiscoveryData,
    idempotent=True,
    login=False,
    description="What this service is, how to sign in, and the address of every operation. Start here.",
)
def discover(_call: Call[Principal], _params: DiscoveryParams) -> Reply:
    """The service's description of itself, every address built from the configured public bases."""
    data = discovery_data()
    return Reply(data.model_dump(by_alias=True), _instructions(data), links=_links())


def discovery_data() -> DiscoveryData:
    """What `GET /v1/` answers under `data`."""
    return DiscoveryData.model_validate(
        {
            "service": {"name": settings.SERVICE_NAME, "version": "v1", "description": _DESCRIPTION},
            "authentication": {
                "type": "email_otp_then_api_key",
                "sendCodeUrl": f"{settings.PUBLIC_AUTH_BASE_URL}/api/agent/send-code",
                "verifyCodeUrl": f"{settings.PUBLIC_AUTH_BASE_URL}/api/agent/verify-code",
            },
            "capabilitiesBeforeLogin": list(_BEFORE_LOGIN),
            "capabilitiesAfterLogin": list(_AFTER_LOGIN),
            "authBaseUrl": settings.PUBLIC_AUTH_BASE_URL,
            "apiBaseUrl": settings.PUBLIC_API_BASE_URL,
            "surface": _surface(f"{settings.PUBLIC_API_BASE_URL}/v1/agent"),
            "mcp": _mcp(),
        }
    )


def _surface(base: str) -> dict[str, str]:
    return {
        "accountUrl": f"{base}/me",
        "workspacesUrl": f"{base}/workspaces",
        "sqlQueryUrl": f"{base}/sql/query",
        "sqlExecuteUrl": f"{base}/sql/execute",
        "guideUrlTemplate": f"{base}/guide/{{topic}}",
        "reviewNextUrl": f"{base}/reviews/next",
        "reviewRevealUrl": f"{base}/reviews/reveal",
        "reviewSubmitUrl": f"{base}/reviews/submit",
    }


def _mcp() -> dict[str, object]:
    return {
        "url": f"{settings.PUBLIC_MCP_BASE_URL}/mcp",
        "description": "The same operations as tools of a Model Context Protocol server (Streamable HTTP, stateless).",
        "authorization": {
            "type": "oauth2",
            "authorizationServer": settings.PUBLIC_AUTH_BASE_URL,
            "authorizationServerMetadataUrl": (
                f"{settings.PUBLIC_AUTH_BASE_URL}/.well-known/oauth-authorization-server"
            ),
            "protectedResourceMetadataUrl": (
                f"{settings.PUBLIC_MCP_BASE_URL}/.well-known/oauth-protected-resource/mcp"
            ),
        },
        "apiKeyBearer": {
            "type": "api_key",
            "header": "Authorization",
            "scheme": "Bearer",
            "description": "For clients that can send a header of their own: `Authorization: Bearer fca_…` with the "
            "apiKey that verifyCodeUrl returns.",
        },
    }


def _links() -> dict[str, str]:
    return {
        "self": f"{settings.PUBLIC_API_BASE_URL}/v1/",
        "openapi": f"{settings.PUBLIC_API_BASE_URL}/v1/openapi.json",
        "home": f"{settings.PUBLIC_BASE_URL}/",
    }


_DESCRIPTION = (
    "Spaced repetition that a person studies with through an AI agent: the agent writes flashcards by SQL, asks the "
    "cards that are due one at a time, and records how well each was remembered; FSRS-6 schedules the next review."
)
_BEFORE_LOGIN = (
    "Read this description and the OpenAPI document",
    "Send a sign-in code to the user's e-mail address",
    "Exchange the code for an API key; the first sign-in makes the account and its first workspace",
)
_AFTER_LOGIN = (
    "Read the account, list, create and select workspaces",
    "Read cards, decks, review events and workspace settings by SQL",
    "Create, change and delete cards and decks by SQL, in atomic batches",
    "Read guides: the SQL dialect, writing good cards, writing many of them, holding a review",
    "Hold a review session: the next due card, its answer, the rating",
)


_WALK = Template(
    "From here to the first review, with JSON bodies and `Content-Type: application/json`."
    "\n1. Ask the user for their e-mail address (never guess it) and POST "
    '$sendCodeUrl with {"email": "…"}. Keep data.otpSessionToken.'
    "\n2. Ask the user for the 8-digit code from the mail; it is good for 180 seconds. POST "
    '$verifyCodeUrl with {"code": "…", "otpSessionToken": "…", "label": "<your name, e.g. my-agent>"}. '
    "Store data.apiKey where secrets belong: it is shown once."
    "\n3. Send the header `Authorization: ApiKey <apiKey>` with every request from here on. GET "
    "$workspacesUrl: a single workspace is selected by itself; with several, ask the user which one and POST "
    "$workspacesUrl/{workspaceId}/select."
    "\n4. Before you write cards, GET $guideUrlTemplate with the topics card_authoring and sql_dialect "
    "(bulk_authoring for many cards). Then POST "
    """$sqlExecuteUrl with {"sql": "INSERT INTO cards (front_text, back_text, tags) """
    """VALUES ('question', 'answer', ('topic'))"}, and read back with POST """
    '$sqlQueryUrl and {"sql": "SELECT card_id, front_text, tags FROM cards LIMIT 5"}.'
    "\n5. Before you hold a review, GET the guide review_flow. POST $reviewNextUrl with {} and show "
    "data.card.frontText alone; wait for the user's attempt; POST "
    '$reviewRevealUrl with {"cardId": "…"} and compare; POST '
    '$reviewSubmitUrl with {"cardId": "…", "reviewId": "<a new UUID, kept for retries>", "rating": "<Again, Hard, Good '
    'or Easy>", "reviewedTimeZone": "<IANA name, e.g. Europe/Berlin>"}. Repeat until data.card is null.'
    "\nEvery answer carries `instructions` for the next step. A client that speaks MCP connects to $mcpUrl instead."
)


def _instructions(data: DiscoveryData) -> str:
    urls = data.authentication.model_dump(by_alias=True) | data.surface.model_dump(by_alias=True)
    return _WALK.substitute(urls, mcpUrl=data.mcp.url)
