// The one script of these pages: a button that copies a text. Without it the text can still be selected.
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.dataset.copy);
    button.textContent = button.dataset.copied;
    document.getElementById("copy-status").textContent = button.dataset.copied;
  });
}
