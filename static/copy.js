// The one script of these pages: a button that copies a text. Without it the text can still be selected.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    document.getElementById(button.getAttribute("aria-describedby")).textContent = button.dataset.copied;
  });
}
