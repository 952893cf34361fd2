"""SELECT over REST: conditions, order, pages, groups, and what an answer says about itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.factories import LONG_AGO, make_card, make_deck, make_review_event


def fronts(agent, condition: str) -> set[str]:
    return {row["front_text"] for row in agent.rows(f"SELECT front_text FROM cards WHERE {condition}")}


@pytest.fixture
def learner(alice):
    texts = {
        "Oslo": ("Capital of Norway", ["geo", "North"]),
        "lima": ("capital of Peru", ["Geo", "south america"]),
        "Ünïcode": ("ÀÉÎ 猫 50% a_b c:\\d", []),
        "none": ("Line one\nline two", ["a,b", 'say "x"', "it's"]),
    }
    for number, (back, (front, tags)) in enumerate(texts.items()):
        created_at = LONG_AGO + timedelta(days=number, microseconds=number * 250)
        make_card(alice.workspace, front_text=front, back_text=back, tags=tags, created_at=created_at)
    return alice


@pytest.mark.parametrize(
    ("condition", "backs"),
    [
        ("front_text LIKE 'Capital%'", {"Oslo"}),
        ("front_text ILIKE 'CAPITAL%'", {"Oslo", "lima"}),
        ("LOWER(front_text) LIKE 'CAPITAL%'", {"Oslo", "lima"}),
        ("UPPER(front_text) ILIKE '%nORWAY'", {"Oslo"}),
        ("front_text LIKE '%one_line%'", {"none"}),
        ("front_text ILIKE 'àéî%'", {"Ünïcode"}),
        ("front_text LIKE '%_ 50\\%%'", {"Ünïcode"}),
        ("front_text LIKE '%50!% a!_b%' ESCAPE '!'", {"Ünïcode"}),
        ("front_text LIKE '%c:\\d'", {"Ünïcode"}),
        ("LOWER(back_text) = 'ÜNÏCODE'", {"Ünïcode"}),
        ("LOWER(back_text) IN ('OSLO', 'LIMA')", {"Oslo", "lima"}),
        ("LOWER(back_text) = 'os_o'", set()),
        ("MATCH('CAPITAL OF')", {"Oslo", "lima"}),
        ("MATCH('50%')", {"Ünïcode"}),
        ("MATCH(' america ')", {"lima"}),
        ("MATCH('norwayoslo')", set()),
        ("MATCH('猫')", {"Ünïcode"}),
        ("tags OVERLAP ('geo', 'a,b')", {"Oslo", "none"}),
        ("tags @> ('geo', 'North')", {"Oslo"}),
        ("tags = ('North', 'geo', 'geo')", {"Oslo"}),
        ("tags = ('geo')", set()),
        ("tags = ()", {"Ünïcode"}),
        ("'it''s' = ANY(tags)", {"none"}),
        ("NOT tags OVERLAP ('geo')", {"lima", "Ünïcode", "none"}),
        ("tags @> ()", {"Oslo", "lima", "Ünïcode", "none"}),
        ("tags OVERLAP ()", set()),
        ("deleted_at IS NULL AND NOT back_text = 'Oslo'", {"lima", "Ünïcode", "none"}),
        ("deleted_at IS NOT NULL", set()),
    ],
)
def test_conditions_select_these_cards(learner, condition, backs):
    rows = learner.rows(f"SELECT back_text FROM cards WHERE {condition}")
    assert {row["back_text"] for row in rows} == backs


def test_a_time_copied_from_an_answer_finds_its_row(learner):
    for row in learner.rows("SELECT card_id, created_at FROM cards"):
        found = learner.rows(f"SELECT card_id FROM cards WHERE created_at = '{row['created_at']}'")
        assert [other["card_id"] for other in found] == [row["card_id"]]


def test_a_literal_of_more_than_three_decimals_is_exact(learner):
    assert fronts(learner, "created_at = '2025-01-02T08:00:00.000250Z'") == {"capital of Peru"}
    assert fronts(learner, "created_at = '2025-01-02T08:00:00.0002Z'") == set()
    assert fronts(learner, "created_at <= '2025-01-02T08:00:00'") == {"Capital of Norway", "capital of Peru"}
    assert fronts(learner, "created_at > '2025-01-02T08:00:00'") == {"ÀÉÎ 猫 50% a_b c:\\d", "Line one\nline two"}


def test_times_compare_by_instant_whatever_their_zone(learner):
    assert fronts(learner, "created_at = '2025-01-01 13:30+05:30'") == {"Capital of Norway"}
    assert fronts(learner, "created_at = '2025-01-01T00:00:00-0800'") == {"Capital of Norway"}


def test_unknown_is_neither_true_nor_false(learner):
    make_card(learner.workspace, front_text="due", fsrs_card_state="review", due_at=datetime(2025, 2, 1, tzinfo=UTC))
    for condition in ("due_at > '2025-01-31'", "NOT (due_at < '2025-01-31')", "NOT due_at IN ('2025-03-01')"):
        assert fronts(learner, condition) == {"due"}
    assert len(fronts(learner, "due_at > '2025-01-31' OR reps = 0")) == 5
    assert fronts(learner, "NOT (due_at > '2025-01-31' OR reps = 0)") == set()


def test_numbers_beyond_any_column_compare_as_numbers(learner):
    assert len(fronts(learner, "reps < 99999999999999999999999999")) == 4
    assert fronts(learner, "reps = 99999999999999999999999999 OR reps <= -1.5") == set()
    assert len(fronts(learner, "reps > -0.5 AND reps != 0.5")) == 4
    assert fronts(learner, "fsrs_step_index < 99999999") == set()


def test_nulls_come_first_ascending_and_last_descending_unless_said(learner):
    make_card(learner.workspace, front_text="due", fsrs_card_state="review")
    last = {"ASC": "due", "DESC NULLS FIRST": "due", "ASC NULLS FIRST": "due"}
    first = {"DESC": "due", "ASC NULLS LAST": "due", "DESC NULLS LAST": "due"}
    for direction, front in last.items():
        assert learner.rows(f"SELECT front_text FROM cards ORDER BY due_at {direction}")[-1]["front_text"] == front
    for direction, front in first.items():
        assert learner.rows(f"SELECT front_text FROM cards ORDER BY due_at {direction}")[0]["front_text"] == front


def test_without_order_by_the_newest_come_first_and_ties_go_by_id(alice):
    cards = [
        make_card(alice.workspace, front_text=f"{n}", created_at=LONG_AGO + timedelta(days=n // 2)) for n in range(6)
    ]
    wanted = [str(c.card_id) for c in sorted(cards, key=lambda c: (-c.created_at.timestamp(), str(c.card_id)))]
    assert [row["card_id"] for row in alice.rows("SELECT card_id FROM cards")] == wanted


def test_text_orders_by_code_point_and_tags_element_by_element(alice):
    for front, tags in (("b", ["a", "b"]), ("B", ["a"]), ("ä", ["a b"]), ("a", []), ("Z", ["b"])):
        make_card(alice.workspace, front_text=front, tags=tags)
    by_text = [row["front_text"] for row in alice.rows("SELECT front_text FROM cards ORDER BY front_text")]
    assert by_text == ["B", "Z", "a", "b", "ä"]
    by_tags = [row["tags"] for row in alice.rows("SELECT tags FROM cards ORDER BY tags")]
    assert by_tags == [[], ["a"], ["a", "b"], ["a b"], ["b"]]


def test_pages_say_whether_there_is_more_and_how_much_in_all(alice):
    for number in range(7):
        make_card(alice.workspace, front_text=f"{number}")
    pages = {
        "LIMIT 3": (3, True, 7),
        "LIMIT 3 OFFSET 4": (3, False, 7),
        "LIMIT 7": (7, False, 7),
        "": (7, False, 7),
        "LIMIT 3 OFFSET 6": (1, False, 7),
        "LIMIT 3 OFFSET 50": (0, False, 7),
    }
    for clause, expected in pages.items():
        data = alice.sql(f"SELECT front_text FROM cards {clause}").data
        assert (data["rowCount"], data["hasMore"], data["totalRowCount"]) == expected, clause


def test_a_page_far_down_is_the_same_page(alice):
    for number in range(230):
        make_card(alice.workspace, front_text=f"{number:03}", created_at=LONG_AGO + timedelta(minutes=number))
    for clause in ("ORDER BY front_text", "ORDER BY reps, front_text"):
        data = alice.sql(f"SELECT front_text FROM cards {clause} LIMIT 5 OFFSET 220").data
        assert [row["front_text"] for row in data["rows"]] == ["220", "221", "222", "223", "224"]
        assert (data["hasMore"], data["totalRowCount"]) == (True, 230)


def test_the_newest_of_several_tags_are_merged(alice):
    for number in range(30):
        tags = [["odd"], ["even"]][number % 2] + (["both"] if number % 5 == 0 else [])
        make_card(alice.workspace, front_text=f"{number:02}", tags=tags, created_at=LONG_AGO + timedelta(days=number))
    data = alice.sql("SELECT front_text FROM cards WHERE tags OVERLAP ('both', 'odd') LIMIT 4 OFFSET 2").data
    wanted = [f"{n:02}" for n in range(29, -1, -1) if n % 2 == 0 or n % 5 == 0]
    assert [row["front_text"] for row in data["rows"]] == wanted[2:6]
    assert (data["hasMore"], data["totalRowCount"]) == (True, len(wanted))


def test_an_alias_names_the_output_and_wins_in_order_by(learner):
    rows = learner.rows("SELECT front_text AS Back_Text, back_text AS x FROM cards ORDER BY back_text")
    assert list(rows[0]) == ["back_text", "x"]
    assert [row["back_text"] for row in rows] == sorted(row["back_text"] for row in rows)


def test_sums_and_means_show_no_digits_that_depend_on_the_order_of_adding(alice):
    for _ in range(300):
        make_card(alice.workspace, fsrs_card_state="review", fsrs_stability=0.1)
    assert alice.rows("SELECT SUM(fsrs_stability) AS s, AVG(fsrs_stability) AS m FROM cards") == [{"s": 30.0, "m": 0.1}]


def test_aggregates_of_nothing(alice):
    (row,) = alice.rows("SELECT COUNT(*), SUM(reps), AVG(reps), MIN(front_text), MAX(due_at) FROM cards")
    assert row == {"count": 0, "sum_reps": None, "avg_reps": None, "min_front_text": None, "max_due_at": None}
    assert alice.rows("SELECT COUNT(*) AS n FROM cards HAVING n > 0") == []
    assert alice.rows("SELECT COUNT(*) AS n FROM cards HAVING MAX(due_at) IS NULL") == [{"n": 0}]
    assert alice.rows("SELECT COUNT(*) AS n FROM cards HAVING MAX(front_text) LIKE 'a%'") == []


def test_groups_by_day_and_by_tag(learner):
    days = learner.rows(
        "SELECT DATE(created_at) AS day, COUNT(*) AS n FROM cards GROUP BY day ORDER BY day DESC LIMIT 2"
    )
    assert days == [{"day": "2025-01-04", "n": 1}, {"day": "2025-01-03", "n": 1}]
    tags = learner.rows("SELECT tag, COUNT(*) AS n FROM cards UNNEST tags AS tag GROUP BY tag HAVING tag ILIKE 'geo'")
    assert tags == [{"tag": "Geo", "n": 1}, {"tag": "geo", "n": 1}]


def test_a_star_shows_the_element_last(learner):
    (row,) = learner.rows("SELECT * FROM cards UNNEST tags AS label WHERE label = 'south america'")
    assert list(row)[-1] == "label"
    assert row["back_text"] == "lima"


def test_tags_of_decks_unnest_decoded_and_in_order(alice):
    make_deck(alice.workspace, name="Odd", tags=["b", "a,\x01c", "\x02", "ü"])
    make_deck(alice.workspace, name="Empty", tags=[])
    rows = alice.rows("SELECT name, tag FROM decks UNNEST tags AS tag")
    assert rows == [{"name": "Odd", "tag": tag} for tag in ("b", "a,\x01c", "\x02", "ü")]


def test_in_deck_selects_what_the_deck_selects(learner):
    make_deck(learner.workspace, name="Geography", tags=["GEO"])
    everything = make_deck(learner.workspace, name="Everything", tags=[])
    assert fronts(learner, "IN_DECK('Geography')") == {"Capital of Norway", "capital of Peru"}
    assert len(fronts(learner, f"IN_DECK('{everything.deck_id}')")) == 4
    assert fronts(learner, f"NOT IN_DECK('{str(everything.deck_id).upper()}')") == set()


def test_a_deck_is_found_by_id_before_it_is_found_by_name(learner):
    north = make_deck(learner.workspace, name="North", tags=["North"])
    make_deck(learner.workspace, name=str(north.deck_id), tags=["Geo"])
    assert fronts(learner, f"IN_DECK('{north.deck_id}')") == {"Capital of Norway"}


def test_deleted_rows_are_never_seen_but_their_reviews_are(alice):
    card = make_card(alice.workspace, front_text="gone", tags=["geo"])
    make_review_event(card)
    make_deck(alice.workspace, name="gone", deleted_at=LONG_AGO)
    alice.sql(f"DELETE FROM cards WHERE card_id = '{card.card_id}'")
    for query in ("cards WHERE MATCH('gone')", "cards WHERE tags OVERLAP ('geo')", "cards UNNEST tags AS tag", "decks"):
        assert alice.rows(f"SELECT COUNT(*) AS n FROM {query}") == [{"n": 0}]
    assert alice.rows("SELECT card_id FROM review_events") == [{"card_id": str(card.card_id)}]


def test_the_answer_does_not_echo_the_statement(alice):
    answered = alice.sql("SELECT name FROM decks WHERE name = 'very secret words'")
    assert "very secret words" not in str(answered.body)


def test_an_unknown_field_is_refused_by_name(alice):
    answered = alice.post("/v1/agent/sql/query", {"sql": "SHOW TABLES", "workspaceID": str(alice.workspace.pk)})
    assert answered.status == 400
    assert "workspaceID" in answered.error["message"]
    for body in ({}, {"sql": 5}, {"sql": None}):
        assert alice.post("/v1/agent/sql/query", body).error["code"] == "INVALID_REQUEST"


def test_half_a_surrogate_pair_is_refused_by_name(alice):
    answered = alice.post("/v1/agent/sql/query", '{"sql": "SELECT name FROM decks WHERE name = \'\\ud800\'"}')
    assert answered.status == 400
    assert "surrogate" in answered.error["message"]
