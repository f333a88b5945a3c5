// What scrolls sideways must be reachable by the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const part of document.querySelectorAll("pre, .table-wrapper")) part.tabIndex = 0;
});
