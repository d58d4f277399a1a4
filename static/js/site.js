/* Progressive enhancement only: every page is complete without this file.
   1. explanations open on focus and hover as well as on press
   2. answers of the API are shown indented
   3. the section's menu on a phone starts at the page that is shown */
(() => {
  "use strict";

  /* 1 hints ------------------------------------------------------------------------------ */
  const HOVER_GRACE_MS = 150;
  const TAP_MS = 400;
  let openedAt = 0;
  const opener = (event) => event.target.closest?.("[data-hint]");
  const hintOf = (button) => document.getElementById(button.getAttribute("popovertarget"));
  const show = (button) => {
    const hint = hintOf(button);
    if (!hint || hint.matches(":popover-open")) return;
    hint.showPopover({ source: button });
    openedAt = Date.now();
  };
  const hideUnlessInUse = (hint) => {
    const used = document.querySelector(`[popovertarget="${hint.id}"]:is(:hover, :focus-visible)`);
    if (!used && !hint.matches(":hover, :focus-within")) hint.hidePopover();
  };

  document.addEventListener("focusin", (event) => {
    const button = opener(event);
    if (button?.matches(":focus-visible")) show(button);
  });
  document.addEventListener("focusout", (event) => {
    const button = opener(event);
    const hint = button && hintOf(button);
    if (hint?.matches(":popover-open") && !hint.contains(event.relatedTarget)) hint.hidePopover();
  });
  document.addEventListener("mouseover", (event) => {
    const button = opener(event);
    if (button) show(button);
  });
  document.addEventListener("mouseout", (event) => {
    if (!opener(event) && !document.querySelector(".hint:popover-open")) return;
    setTimeout(() => document.querySelectorAll(".hint:popover-open").forEach(hideUnlessInUse), HOVER_GRACE_MS);
  });
  /* a tap hovers first: its click must not close what it has just opened */
  document.addEventListener("click", (event) => {
    if (opener(event) && Date.now() - openedAt < TAP_MS) event.preventDefault();
  }, true);

  /* 2 answers of the API, indented ------------------------------------------------------- */
  document.addEventListener("htmx:beforeSwap", (event) => {
    if (!event.detail.target.matches("[data-json]")) return;
    event.detail.serverResponse = JSON.stringify(JSON.parse(event.detail.serverResponse), null, 2);
    event.detail.shouldSwap = true;
  });

  /* 3 the section's menu on a phone starts at the page that is shown ---------------------- */
  document.querySelector(".subnav [aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
})();
