// The one message that the page may send: what the learner thinks of the round, for the model to ask about.

/** The text of the message, in the learner's language. Weak cards come with their answers, strong ones without. */
function handoffText(round) {
  const indented = (text) => text.trim().replace(/\n/g, "\n  ");
  const prompt = (card) => `- [${say(card.rating)}] ${indented(card.frontText)}`;
  const weak = round.rated("Again", "Hard").map((card) => `${prompt(card)}\n  ${say("answer")} ${indented(card.backText)}`);
  const strong = round.rated("Good", "Easy").map(prompt);
  const section = (title, lines) => (lines.length ? [say(title), ...lines, ""] : []);
  return [say("opening"), "", ...section("weak", weak), ...section("strong", strong), say("closing")].join("\n");
}

/** Copy what `area` holds; false when the browser leaves it to the learner, with the text selected. */
async function copyFrom(area) {
  area.select();
  // Few hosts lend the clipboard to a frame, and asking for it may wait for a prompt. The old command works in a click.
  if (document.execCommand("copy")) return true;
  try {
    await navigator.clipboard.writeText(area.value);
    return true;
  } catch {
    return false;
  }
}
