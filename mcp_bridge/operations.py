"""The guides for agents, as an operation."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field

from accounts.auth import Principal
from flashcards.envelope import Reply
from flashcards.errors import Advice
from flashcards.operation import Call, Data, Params, operation

Topic = Literal["sql_dialect", "card_authoring", "bulk_authoring", "review_flow"]
TOPICS: tuple[Topic, ...] = get_args(Topic)
_GUIDES = Path(__file__).parent / "guides"
_NEXT = {
    "sql_dialect": Advice(
        rest="Read with POST /v1/agent/sql/query and write with POST /v1/agent/sql/execute, as the guide says.",
        mcp="Read with sql_query and write with sql_execute, as the guide says.",
    ),
    "card_authoring": Advice(
        rest="Write the cards with POST /v1/agent/sql/execute. For many at once, read the guide bulk_authoring first.",
        mcp="Write the cards with sql_execute. For many at once, read the guide bulk_authoring first.",
    ),
    "bulk_authoring": Advice(
        rest="Look for duplicates with POST /v1/agent/sql/query, then write batches with POST /v1/agent/sql/execute.",
        mcp="Look for duplicates with sql_query, then write batches with sql_execute.",
    ),
    "review_flow": Advice(
        rest="Take the first card with POST /v1/agent/reviews/next.", mcp="Take the first card with next_review_card."
    ),
}


class GuideParams(Params):
    """Which guide."""

    topic: Topic = Field(
        description="sql_dialect: what the SQL can do. card_authoring: how to write good cards. bulk_authoring: how to "
        "write many. review_flow: how to hold a review."
    )


class GuideData(Data):
    """A guide."""

    topic: Topic
    guide: str = Field(description="The guide as Markdown.")


@operation(
    title="Read a guide",
    params=GuideParams,
    data=GuideData,
    idempotent=True,
    description="A short guide as Markdown. Read card_authoring before writing cards (bulk_authoring too for more than "
    "a few), sql_dialect before anything but the simplest SQL, and review_flow before the first review of a "
    "conversation. Needs no workspace.",
)
def get_guide(_call: Call[Principal], params: GuideParams) -> Reply:
    """The guide of that topic. Reads nothing but the guide: it answers also when no workspace is selected or exists."""
    return Reply({"topic": params.topic, "guide": guide_text(params.topic)}, _NEXT[params.topic])


@cache
def guide_text(topic: Topic) -> str:
    """The Markdown of a guide."""
    return (_GUIDES / f"{topic}.md").read_text(encoding="utf-8")
