// What is on the screen, built from the words and the round. It calls `actions` and decides nothing.

/** A new element. `props` are properties, or attributes where there is no such property; children may be null. */
function el(tag, props = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in node) node[name] = value;
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child != null));
  return node;
}

function button(className, label, onclick, props = {}) {
  // The second click of a double click lands on a button that was not there for the first one.
  const once = (event) => event.detail < 2 && onclick();
  return el("button", { type: "button", className, onclick: once, ...props }, label);
}

/** A side of a card. `html` was made and sanitised by the service; without it `text` is shown as it stands. */
function face(side, html, text) {
  const node = el("div", { className: `face ${side}`, dir: "auto" });
  if (html) node.innerHTML = html;
  else node.append(el("p", { className: "plain" }, text));
  const only = node.children.length === 1 ? node.firstElementChild.localName : "";
  if (only === "math" || (only === "p" && text.length <= 100)) node.classList.add("brief");
  if (text.length <= 48) node.classList.add("short");
  for (const wide of node.querySelectorAll("table, math[display=block]")) wrapWide(wide);
  return node;
}

function wrapWide(node) {
  const around = el("span", { className: "scroll" });
  node.replaceWith(around);
  around.append(node);
}

/** Let what is wider than its card be scrolled, with the keyboard too. */
function fitWide(root) {
  for (const math of root.querySelectorAll(".face :not(.scroll) > math")) {
    if (math.getBoundingClientRect().width > math.closest(".face").clientWidth) wrapWide(math);
  }
  for (const box of root.querySelectorAll(".face .scroll, .face pre")) {
    box.tabIndex = box.scrollWidth > box.clientWidth ? 0 : -1;
  }
}

/** A screen of words alone: loading, cancelled, failed. */
function messageScreen(title, details, action) {
  const lines = details.filter(Boolean).map((line) => el("p", { dir: "auto" }, line));
  return el("section", { className: "message" }, el("h1", {}, title), ...lines, action);
}

/** The screen of a card. It is built once for a round and then updated, so that nothing flickers. */
class CardScreen {
  constructor(launch) {
    this.count = el("h1", { className: "count" });
    this.fill = el("i");
    this.bar = el("div", { className: "bar", role: "progressbar", "aria-label": say("progress"), "aria-valuemin": 0 }, this.fill);
    this.stage = el("div", { className: "stage" });
    this.answers = el("div", { className: "answers", role: "group", "aria-label": say("howWell") });
    this.footer = el("footer");
    this.node = el(
      "section", {}, el("header", {}, this.count, this.bar), reasonLine(launch.selectionReason),
      this.stage, this.answers, this.footer,
    );
  }

  update(state) {
    const { round } = state;
    const { current, handledCount } = round;
    const count = round.cards.length;
    this.count.textContent = say("card", round.cards.indexOf(current) + 1, count);
    this.bar.setAttribute("aria-valuemax", count);
    this.bar.setAttribute("aria-valuenow", handledCount);
    this.fill.style.width = `${(100 * handledCount) / count}%`;
    this.updateStage(current, state.revealed);
    this.updateAnswers(current, state);
    this.footer.replaceChildren(...footerParts(state));
  }

  updateStage(card, revealed) {
    if (this.shown !== card) {
      if (this.shown) this.keepRoom();
      this.front = face("front", card.frontHtml, card.frontText);
      this.front.tabIndex = -1;
      this.stage.replaceChildren(this.front);
      this.back = null;
      this.shown = card;
    }
    if (revealed && !this.back) {
      const empty = !card.backText.trim();
      this.back = empty ? face("back empty", "", say("emptyAnswer")) : face("back", card.backHtml, card.backText);
      this.back.id = "back";
      this.stage.append(el("hr"), this.back);
    }
    fitWide(this.stage);
  }

  /** A short card after a long one must not make the frame shrink and grow: the room that was taken stays. */
  keepRoom() {
    this.stage.style.minHeight = `${Math.min(this.stage.offsetHeight, 320)}px`;
  }

  updateAnswers(card, { revealed, saving, round }) {
    if (!revealed) {
      const show = button("show", say("showAnswer"), actions.reveal, { "aria-keyshortcuts": "Space" });
      show.append(keyHint(say("space")));
      return this.answers.replaceChildren(show);
    }
    const focused = document.activeElement?.dataset?.rating;
    this.buttons = RATINGS.map((rating, index) => ratingButton(card, rating, index + 1));
    for (const node of this.buttons) {
      node.disabled = !round.ratingsAllowed;
      // While it saves they are not `disabled`, which would throw the focus away.
      if (saving) node.setAttribute("aria-disabled", "true");
      node.classList.toggle("chosen", saving === node.dataset.rating);
    }
    this.answers.replaceChildren(...this.buttons);
    if (focused) this.buttonOf(focused).focus({ preventScroll: true });
  }

  buttonOf(rating) {
    return this.buttons.find((node) => node.dataset.rating === rating);
  }
}

function ratingButton(card, rating, number) {
  const seconds = card.intervals?.[rating];
  const node = button(`rating ${rating}`, el("b", {}, say(rating)), () => actions.rate(rating), { "aria-keyshortcuts": number });
  node.dataset.rating = rating;
  // The focus lands on Good after a reveal: this is how a screen reader comes to read the answer.
  if (rating === "Good") node.setAttribute("aria-describedby", "back");
  node.append(" ", el("small", {}, seconds == null ? "" : intervalInWords(seconds)), keyHint(number));
  return node;
}

function footerParts({ round, notes, retry, saving }) {
  const busy = { disabled: Boolean(saving) };
  const left = !notes.length && round.undoable ? button("quiet", say("undo"), actions.undo, busy) : notesPart(notes, retry);
  const withSettings = round.ratingsReason === "switched_off" && round.settingsUrl;
  return [left, el(
    "div", { className: "choices" },
    retry ? button("quiet retry", say("tryAgain"), retry, busy) : null,
    withSettings ? button("quiet", say("settings"), actions.settings) : null,
    button("quiet skip", say(round.ratingsAllowed ? "skip" : "next"), actions.skip, busy),
  )];
}

function notesPart(notes, failed) {
  return el("div", { className: failed ? "notes failed" : "notes" }, ...notes.map((note) => el("p", {}, note)));
}

function keyHint(key) {
  return el("kbd", { "aria-hidden": "true" }, String(key));
}

function reasonLine(reason) {
  if (reason.length <= 140) return el("p", { className: "reason", dir: "auto" }, reason);
  return el("details", { className: "reason" }, el("summary", {}, say("why")), el("p", { dir: "auto" }, reason));
}

/** The screen after the last card. */
function summaryScreen({ round, notes, handoff }) {
  const rated = round.rated(...RATINGS).length;
  const weak = round.rated("Again", "Hard");
  const skipped = round.cards.filter((card) => card.status === "skipped").length;
  return el(
    "section", { className: "summary" },
    el("h1", { tabIndex: -1 }, say("finished")),
    rated ? countsList(round) : el("p", { className: "soft" }, say("nothingRated")),
    weak.length ? weakList(weak) : null,
    rated ? handoffPart(handoff) : null,
    el(
      "footer", {}, notesPart(skipped ? [say("skipped", skipped), ...notes] : notes),
      el("div", { className: "choices" },
        skipped ? button("quiet", say("returnToSkipped"), actions.returnToSkipped) : null,
        round.undoable ? button("quiet", say("undo"), actions.undo) : null),
    ),
  );
}

function countsList(round) {
  const count = (rating) => el("b", {}, String(round.rated(rating).length));
  return el("ul", { className: "counts" }, ...RATINGS.map((rating) => el("li", { className: rating }, count(rating), say(rating))));
}

function weakList(cards) {
  const lines = cards.map((card) => el("li", { className: card.rating }, face("", card.frontHtml, card.frontText)));
  return el("div", { className: "weak" }, el("h2", {}, say("weakCards")), el("ul", {}, ...lines));
}

function handoffPart({ state, text }) {
  if (text) {
    const area = el("textarea", { readOnly: true, rows: 7, dir: "auto", value: text, "aria-label": say("ask") });
    return el("div", { className: "handoff" }, el("p", {}, say("notAsked")), area, button("ask", say("copy"), () => actions.copy(area)));
  }
  const ask = button("ask", say(state || "ask"), actions.ask);
  if (state) ask.setAttribute("aria-disabled", "true");
  return el("div", { className: "handoff" }, ask);
}
