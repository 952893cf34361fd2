// One round: what is known of each card, and the calls that change it. It knows nothing of the screen.
// A card is `open`, `rated`, `skipped` or `unavailable`; the first open one is asked.

const ACTION_TOOL = "flashcard_review_app_action";
// The service knows more than this page: its word on the round is fetched.
const OUT_OF_STEP = new Set(["REVIEW_EVENT_CONFLICT", "REVIEW_SESSION_CARD_NOT_FOUND"]);
// The rating stands.
const FINAL = new Set(["REVIEW_NOT_UNDOABLE", "REVIEW_NOT_FOUND"]);
const SWITCHED_OFF = new Set(["REVIEW_APP_SWITCHED_OFF", "REVIEW_APP_RATINGS_SWITCHED_OFF"]);

class Round {
  /** `launch` is the data that the session opened with. */
  constructor(launch, host) {
    this.host = host;
    this.launch = launch;
    this.cards = launch.cards.map((card) => ({ ...card, status: "open", rating: null, reviewedAt: null }));
    this.takeOver(launch);
  }

  get current() {
    return this.cards.find((card) => card.status === "open");
  }

  get handledCount() {
    return this.cards.filter((card) => card.status !== "open").length;
  }

  /** The rating that an undo takes back: the newest one that the service has not yet called final. */
  get undoable() {
    const rated = this.cards.filter((card) => this.ratingsAllowed && card.status === "rated" && !card.final);
    return rated.reduce((newest, card) => (newest && newest.reviewedAt > card.reviewedAt ? newest : card), undefined);
  }

  rated(...ratings) {
    return this.cards.filter((card) => card.status === "rated" && ratings.includes(card.rating));
  }

  takeOver({ ratingsAllowed, ratingsReason, settingsUrl }) {
    Object.assign(this, { ratingsAllowed, ratingsReason, settingsUrl });
  }

  async act(action, args = {}) {
    try {
      return await this.host.callTool(ACTION_TOOL, { action, sessionId: this.launch.sessionId, ...args });
    } catch (refusal) {
      if (SWITCHED_OFF.has(refusal.code)) {
        this.takeOver({
          ratingsAllowed: false,
          ratingsReason: "switched_off",
          settingsUrl: refusal.details?.settingsUrl ?? this.settingsUrl,
        });
      }
      throw refusal;
    }
  }

  /** Take over what the service has stored. The host may show an old result again, after a reload or an undo. */
  async resume() {
    const stored = await this.act("state");
    this.takeOver(stored);
    for (const entry of stored.cards) Object.assign(this.cards.find((card) => card.cardId === entry.cardId) ?? {}, entry);
  }

  /** Save a rating of `card`. Raises a Refusal while the card stays open; sending it again stores it once. */
  async rate(card, rating) {
    const { cardId, reviewId } = card;
    try {
      const review = await this.act("review_card", { cardId, reviewId, rating, reviewedTimeZone: this.host.timeZone() });
      Object.assign(card, { status: "rated", rating: review.rating, reviewedAt: review.reviewedAt });
    } catch (refusal) {
      if (!OUT_OF_STEP.has(refusal.code)) throw refusal;
      await this.resume();
      if (card.status === "open") throw refusal;
    }
  }

  /** Leave `card` out. A failure to note it costs nothing but that a page mounted again asks it once more. */
  skip(card) {
    card.status = "skipped";
    this.act("skip", { cardId: card.cardId }).catch(() => {});
  }

  returnToSkipped() {
    for (const card of this.cards) if (card.status === "skipped") card.status = "open";
  }

  /** Take back the last rating: its card is open again. Raises a Refusal while the rating stands. */
  async undo() {
    const card = this.undoable;
    try {
      const answer = await this.act("undo", { cardId: card.cardId, reviewId: card.reviewId });
      Object.assign(card, answer.card);
    } catch (refusal) {
      card.final = FINAL.has(refusal.code);
      throw refusal;
    }
    return card;
  }
}
