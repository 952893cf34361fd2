// The page: one state, what may happen to it, and the screen that follows from it.

const screen = document.getElementById("screen");
const state = {
  round: null,
  cardScreen: null,
  revealed: false,
  saving: "", // the rating, or "undo", whose answer is awaited
  notes: [],
  retry: null, // what "Try again" does
  handoff: { state: "", text: "" },
};
let capabilities = {};

speak(navigator.language);
const host = connectToHost({ result: open, cancelled: cancel, context: applyContext });
host.ready.then(
  (given) => (capabilities = given),
  () => showMessage("noHost"),
);
showMessage("loading");

// --- Host

function applyContext({ theme, locale, styles, safeAreaInsets }) {
  const root = document.documentElement;
  if (theme) root.style.colorScheme = theme;
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith("--") && value != null) root.style.setProperty(name, value);
  }
  for (const [side, pixels] of Object.entries(safeAreaInsets ?? {})) {
    root.style.setProperty(`--inset-${side}`, `${Number(pixels) || 0}px`);
  }
  // Once a round is open, the service has named the learner's language.
  if (!locale || state.round) return;
  speak(locale);
  if (state.message === "loading") showMessage("loading");
}

async function open(result) {
  let launch;
  try {
    launch = dataOf(result);
  } catch (refusal) {
    const why = refusal.code === "CANDIDATE_TOKEN_INVALID" ? say("listOver") : refusal.message;
    return showMessage("launchFailed", [why, say("askAgain")]);
  }
  if (launch.sessionId === state.round?.launch.sessionId) return; // told twice
  await host.ready;
  speak(launch.language);
  state.round = new Round(launch, host);
  state.cardScreen = new CardScreen(launch);
  await resume();
}

async function resume() {
  const { round } = state;
  if (capabilities.serverTools) {
    try {
      await round.resume();
    } catch (refusal) {
      return stopAt(refusal);
    }
  } else round.takeOver({ ratingsAllowed: false, ratingsReason: "no_tools" });
  state.notes = [...omittedNote(round.launch), ...disabledNote(round)];
  update();
  announce(...state.notes);
}

/** The round cannot begin, or not go on: say why, and offer what is left. */
function stopAt(refusal) {
  if (refusal.code === "REVIEW_SESSION_NOT_FOUND") {
    return showMessage("roundOver", [say("roundOverWhy"), say("askAgain")]);
  }
  showMessage("stateUnknown", [refusal.message], button("ask", say("tryAgain"), resume));
}

function cancel() {
  if (!state.round) showMessage("cancelled", [say("askAgain")]);
}

// --- Screen

function showMessage(key, details = [], action = null) {
  state.message = key;
  screen.replaceChildren(messageScreen(say(key), details, action));
  if (key !== "loading") announce(say(key));
}

/** Draw the screen that follows from the state. */
function update() {
  const { round, cardScreen } = state;
  if (!round.current) return screen.replaceChildren(summaryScreen(state));
  if (cardScreen.node.parentNode !== screen) screen.replaceChildren(cardScreen.node);
  cardScreen.update(state);
}

/** Focus `node`, unless the learner has meanwhile gone elsewhere in the chat. */
function focus(node, options) {
  if (document.hasFocus()) node?.focus(options);
}

/** Focus the first of these that is there, without moving the page under the learner's eyes. */
function focusFirst(...selectors) {
  focus(selectors.map((selector) => screen.querySelector(selector)).find(Boolean), { preventScroll: true });
}

/** Have a screen reader read this when it comes to it. */
function announce(...texts) {
  const status = document.getElementById("status");
  status.textContent = "";
  // The same words twice in a row are only read when they went away in between.
  requestAnimationFrame(() => (status.textContent = texts.join(" ")));
}

function omittedNote({ omittedCards = [] }) {
  const counts = ["not_in_candidates", "unavailable", "content_unavailable"].map((reason) => {
    const count = omittedCards.filter((card) => card.reason === reason).length;
    return count && say(reason, count);
  });
  const named = counts.filter(Boolean).join(", ");
  return named ? [say("omitted", named)] : [];
}

function disabledNote({ ratingsAllowed, ratingsReason }) {
  return ratingsAllowed ? [] : [say(ratingsReason)];
}

// --- What the learner does

const actions = { reveal, rate, undo, skip, returnToSkipped, ask, copy, settings };

function reveal() {
  if (!state.round?.current || state.revealed) return;
  state.revealed = true;
  update();
  focusFirst(".Good:enabled", ".skip");
}

async function rate(rating) {
  const { round } = state;
  const card = round.current;
  if (!card || !state.revealed || state.saving || !round.ratingsAllowed) return;
  hold(rating);
  try {
    await round.rate(card, rating);
    goOn(card.rating ? say("saved", say(card.rating)) : "");
  } catch (refusal) {
    rateFailed(refusal, rating);
  }
}

/** Keep the card and say what is wrong with it; the same rating can be sent again unless nothing could come of it. */
function rateFailed({ code, message }, rating) {
  if (code === "REVIEW_SESSION_NOT_FOUND") return stopAt({ code });
  const hopeless = { CARD_NOT_FOUND: "cardGone", CARD_FSRS_STATE_INVALID: "cardBroken" }[code];
  const disabled = disabledNote(state.round);
  const notes = hopeless ? [say(hopeless)] : disabled.length ? disabled : [say("notSaved"), message];
  Object.assign(state, { saving: "", notes, retry: hopeless || disabled.length ? null : () => rate(rating) });
  update();
  announce(...notes);
  focusFirst(".retry", ".skip");
}

/** Hold the buttons still while `what` is under way. */
function hold(what) {
  Object.assign(state, { saving: what, retry: null, notes: disabledNote(state.round) });
  update();
}

/** To the next card, or to the summary; `said` is told with it. */
function goOn(said = "") {
  const { round, cardScreen } = state;
  Object.assign(state, { revealed: false, saving: "", retry: null, notes: disabledNote(round) });
  update();
  const card = round.current;
  if (!card) state.notes = [];
  announce(said, card ? say("card", round.cards.indexOf(card) + 1, round.cards.length) : say("finished"));
  focus(card ? cardScreen.front : screen.querySelector("h1"));
}

function skip() {
  if (state.saving) return;
  state.round.skip(state.round.current);
  goOn();
}

function returnToSkipped() {
  state.round.returnToSkipped();
  goOn();
}

async function undo() {
  const { round } = state;
  if (state.saving || !round.undoable) return;
  hold("undo");
  try {
    await round.undo();
  } catch (refusal) {
    return undoFailed(refusal);
  }
  // The learner has seen this answer: only the rating was a slip.
  Object.assign(state, { revealed: true, saving: "" });
  update();
  announce(say("undone"));
  focusFirst(".Good:enabled", ".skip");
}

function undoFailed(refusal) {
  const { round } = state;
  if (refusal.code === "REVIEW_SESSION_NOT_FOUND") return stopAt(refusal);
  const disabled = disabledNote(round);
  const final = FINAL.has(refusal.code);
  const notes = disabled.length ? disabled : [say(final ? "undoTooLate" : "notUndone")];
  Object.assign(state, { saving: "", notes, retry: final || disabled.length ? null : undo });
  update();
  announce(...notes);
  focusFirst(".retry", ".skip");
}

async function settings() {
  const { settingsUrl } = state.round;
  const opened = capabilities.openLinks && (await host.openLink(settingsUrl).catch(() => null));
  if (!opened || opened.isError) note(settingsUrl);
}

/** One message, once: after it was tried, the text can only be copied. */
async function ask() {
  const { round, handoff } = state;
  if (handoff.state) return;
  const text = handoffText(round);
  handoff.state = "asking";
  update();
  try {
    if (!capabilities.message) throw new Refusal("no messages");
    await host.sendMessage(text);
    handoff.state = "asked";
  } catch {
    handoff.text = text;
  }
  update();
  announce(say(handoff.text ? "notAsked" : "asked"));
  focusFirst("textarea", ".ask");
}

async function copy(area) {
  note(say((await copyFrom(area)) ? "copied" : "notCopied"));
}

/** Say `text` under the buttons and leave the rest of the screen, and the focus, as they are. */
function note(text) {
  screen.querySelector(".notes").replaceWith(notesPart([text]));
  announce(text);
}

// --- Keyboard

window.addEventListener("keydown", (event) => {
  const { key, code, target, repeat } = event;
  if (!state.round?.current || event.isComposing) return;
  if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
  // The row of digits counts by place: without Shift it types other characters on a French keyboard.
  const number = /^[1-4]$/.exec(key)?.[0] ?? /^Digit([1-4])$/.exec(code)?.[1];
  const press = key === " " || key === "Enter";
  // A key held down repeats, and on a button each repetition of Enter would be one more click.
  if (repeat) return press && event.preventDefault();
  if (number && state.revealed) rate(RATINGS[number - 1]);
  else if (press && !target.closest("button, summary")) state.revealed ? rate("Good") : reveal();
  else return;
  event.preventDefault();
});

window.addEventListener("resize", () => fitWide(screen));
