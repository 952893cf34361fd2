"""Conditions on tags, and on the decks that select by them."""

from __future__ import annotations

from django.db.models import F, Q
from django.db.models.lookups import Exact

from flashcards.content import TAGS_MAX
from sqlgate import ast, values
from sqlgate.conditions import ALWAYS, NEVER, Compiled
from sqlgate.decks import cards_of, find_deck
from sqlgate.errors import Fault, Reason, Span
from sqlgate.expressions import TagCount
from sqlgate.schema import Kind
from sqlgate.scope import GroupScope, Scope, Term
from sqlgate.texts import place_name


def tags_equality(node: ast.Comparison, scope: Scope, *, negated: bool) -> Q:
    """The condition `tags = list`: the same tags, whatever their order."""
    name = _tags_name(node.term, scope, node.at)
    form = f"{name} = {_as_list(node.operand)}"
    if node.operator == "=":
        tags = values.tags(name, node.operand, form, node.at)
        condition = _same_tags(scope, list(dict.fromkeys(tags)))
        return ~condition if negated else condition
    message = f"{name} takes =, OVERLAP, @> and 'x' = ANY({name}), each with NOT before it; not {node.operator}."
    fix = f"NOT {form}" if node.operator == "!=" else f"{name} OVERLAP {_as_list(node.operand)}"
    raise Fault(Reason.TYPE_MISMATCH, message, node.at, fix=fix)


def _as_list(operand: ast.Operand) -> str:
    if isinstance(operand, ast.ListLiteral):
        texts = [item.value for item in operand.items if isinstance(item, ast.Text)]
        return f"({', '.join(map(values.quoted, texts))})"
    return f"({values.quoted(operand.value)})" if isinstance(operand, ast.Text) else "('geo')"


def _tags_name(node: ast.Term, scope: Scope, at: Span) -> str:
    if isinstance(scope, GroupScope):
        message = "Conditions on tags go to WHERE; HAVING looks at groups."
        raise Fault(Reason.GROUPING, message, at, example="SELECT COUNT(*) FROM cards WHERE tags OVERLAP ('geo')")
    return scope.term(node).name


def list_test(node: ast.ListTest, scope: Scope) -> Compiled:
    """The condition `tags OVERLAP list` or `tags @> list`."""
    name = _tags_name(node.term, scope, node.at)
    _require_tags(scope.term(node.term))
    word = "OVERLAP" if node.operator == "overlap" else "@>"
    tags = values.tags(name, node.operand, f"{name} {word} {_as_list(node.operand)}", node.at)
    return with_any(scope, tags) if node.operator == "overlap" else Compiled(_with_all(scope, tags))


def _require_tags(term: Term) -> None:
    if term.kind is not Kind.TAGS:
        message = f"{term.name} is no list: OVERLAP, @> and ANY look at tags."
        raise Fault(
            Reason.TYPE_MISMATCH, message, term.at, example="SELECT front_text FROM cards WHERE tags OVERLAP ('geo')"
        )


def any_of(node: ast.AnyOf, scope: Scope) -> str:
    """The tag that 'tag' = ANY(tags) asks for."""
    name = _tags_name(node.column, scope, node.at)
    _require_tags(scope.term(node.column))
    value = values.quoted(node.value.value) if isinstance(node.value, ast.Text) else "'geo'"
    form = f"{value} = ANY({name})"
    if node.operator != "=":
        message = f"ANY takes = only, not {node.operator}."
        raise Fault(Reason.UNSUPPORTED_EXPRESSION, message, node.at, fix=f"NOT {form}")
    if not isinstance(node.value, ast.Text):
        raise values.mismatch(f"An element of {name}", Kind.TEXT, node.value, form, node.at)
    return node.value.value


def with_any(scope: Scope, tags: list[str]) -> Compiled:
    """That a row has at least one of the tags."""
    unnested = scope.table.unnested
    if not tags or unnested is None:
        return Compiled(NEVER)
    key = scope.tags_of().key
    asked = tuple(dict.fromkeys(tags))
    tagged = unnested(scope.workspace_id).filter(tag__in=asked)
    return Compiled(Q(**{f"{key}__in": tagged.values(key)}), only_tags=asked)


def _with_all(scope: Scope, tags: list[str]) -> Q:
    asked = list(dict.fromkeys(tags))
    if len(asked) > TAGS_MAX:
        return NEVER
    return Q(*[with_any(scope, [tag]).condition for tag in asked]) if asked else ALWAYS


def _same_tags(scope: Scope, tags: list[str]) -> Q:
    path = scope.tags_of().tags
    if len(tags) < 2:
        return Q(**{path: tags})
    return _with_all(scope, tags) & Q(Exact(TagCount(F(path)), len(tags)))


def in_deck(node: ast.InDeck, scope: Scope) -> Q:
    """IN_DECK: the cards that a deck selects."""
    if scope.table.name != "cards" or isinstance(scope, GroupScope):
        message = f"IN_DECK selects cards; {place_name(scope)} has none."
        raise Fault(
            Reason.UNSUPPORTED_FUNCTION,
            message,
            node.at,
            example="SELECT front_text FROM cards WHERE tags OVERLAP ('geo')",
        )
    if not scope.looks_up_decks:
        return ALWAYS
    deck = find_deck(node.deck, workspace_id=scope.workspace_id)
    if not deck.tags:
        return ALWAYS
    key = scope.tags_of().key
    return Q(**{f"{key}__in": cards_of(deck).values("card_id")})
