// Pages on which a person types and waits: times in the reader's zone, how long an answer is awaited, and ending that.
(function () {
  "use strict";

  const scope = window.throttlescope;

  // What the zone's clock is ahead of UTC at a moment.
  function offsetMs(zone, atMs) {
    const parts = {};
    new Intl.DateTimeFormat("en-US", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    })
      .formatToParts(new Date(atMs))
      .forEach((part) => (parts[part.type] = Number(part.value)));
    const local = Date.UTC(parts.year, parts.month - 1, parts.day, parts.hour, parts.minute, parts.second);
    return local - Math.floor(atMs / 1000) * 1000;
  }

  // An absolute time, as a box shows it: 2026-11-20 02:58:30.
  function shownTime(text, zone) {
    const atMs = Date.parse(text);
    if (Number.isNaN(atMs)) {
      return text || "";
    }
    return new Date(atMs + offsetMs(zone, atMs)).toISOString().slice(0, 19).replace("T", " ");
  }

  // What was typed, as an address has it. A zone that was typed wins; what is no time goes as it is, and the page says so.
  function absoluteTime(text, zone) {
    const typed = text.trim();
    const found = /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{1,2}:\d{2}(?::\d{2}(?:\.\d+)?)?))?$/.exec(typed);
    if (!found) {
      return typed;
    }
    const clock = (found[2] || "00:00").padStart(5, "0");
    const asUtc = Date.parse(found[1] + "T" + (clock[1] === ":" ? "0" + clock : clock) + "Z");
    if (Number.isNaN(asUtc)) {
      return typed;
    }
    // Twice: the first guess may lie on the other side of a change of the clock.
    const guess = asUtc - offsetMs(zone, asUtc);
    return new Date(asUtc - offsetMs(zone, guess)).toISOString().replace(".000Z", "Z");
  }

  // Puts a value into a box unless the person is in it, or was in it before there was anything to put (``first``).
  function put(id, value, first) {
    const box = document.getElementById(id);
    if (box && box !== document.activeElement && box.value !== value && !(first && box.value)) {
      window.dash_clientside.set_props(id, { value: value });
    }
  }

  Object.assign(scope, { shownTime: shownTime, absoluteTime: absoluteTime, put: put });

  // -- waiting

  let since = null;

  // Written by the server, in the language of the page.
  function runningWords() {
    const notice = document.getElementById("notice");
    return notice ? notice.dataset.running : "";
  }

  function tell() {
    const words = document.querySelector(".running-words[data-of]");
    if (!words) {
      since = null;
      return;
    }
    const content = document.getElementById(words.dataset.of);
    const runs = Boolean(content && content.getAttribute("data-dash-is-loading") === "true");
    since = runs ? since || Date.now() : null;
    const button = document.querySelector(".cancel-button[data-of]");
    // A glance's time: a quick answer does not flicker.
    const shown = runs && Date.now() - since > 300;
    if (button && button.hidden === shown) {
      button.hidden = !shown;
    }
    const seconds = runs ? Math.floor((Date.now() - since) / 1000) : 0;
    const said = shown ? runningWords().replace("SECONDS", seconds) : "";
    if (words.textContent !== said) {
      words.textContent = said;
    }
  }

  window.setInterval(tell, 200);

  document.addEventListener("click", function (event) {
    if (event.target.closest && event.target.closest(".cancel-button")) {
      scope.cancelAll();
    }
  });
})();
