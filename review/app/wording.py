"""What a model is told about the review app, the same wherever it is told."""

from __future__ import annotations

PRESENTATION_MODE = "mcp-app-only"
LANGUAGES = ("en", "zh", "ru")

CANDIDATE_RULES = (
    "Copy candidateToken unchanged; it is good for exactly 10 minutes from its making, for this user alone. Choose 1 "
    "to 20 of the cards of this very answer: decks, get_cards, earlier answers and guessed ids do not count. Then "
    "call flashcard_review_session with them, in the order to review them, and a short selectionReason."
)

_HAND_OFF = {
    "en": "The review is open. Please finish this round in the card.",
    "zh": "复习界面已打开，请在卡片中完成本轮。",
    "ru": "Повторение открыто. Завершите этот раунд в карточке.",
}


def language_of(locale: str) -> str:
    """`en`, `zh` or `ru`: what the app speaks to a user of that locale; English for any other."""
    language = locale.lower().partition("-")[0].partition("_")[0]
    return language if language in LANGUAGES else "en"


def model_instruction(language: str) -> str:
    """What the model is to do once the page is open: hand over, and leave the round to the page."""
    return (
        f"Answer with this sentence and nothing else: {_HAND_OFF[language]} "
        "Do not start the first question in the chat, repeat cards, ask for answers, rate, or call a review tool, "
        "until the person asks for chat review or uses the page's own hand-off."
    )
