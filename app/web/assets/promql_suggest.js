// Suggestions while PromQL is typed: metrics, labels and values from the HTTP API, words of the language from the page.
// The list is a listbox that the text box controls: the focus stays where one types. All text stays text.
(function () {
  "use strict";

  const SHOWN = 40;
  const WAIT_MS = 120;
  const KEPT_MS = 60000;
  const scope = window.throttlescope;
  const answers = new Map();
  let request = null;
  let timer = null;
  let shown = { options: [], active: -1, context: null };

  const box = () => document.getElementById("promql-query");
  const list = () => document.getElementById("promql-suggestions");
  const isOpen = () => Boolean(list() && !list().hidden);

  // -- asking

  function ask(path) {
    const kept = answers.get(path);
    if (kept && Date.now() - kept.at < KEPT_MS) {
      return Promise.resolve(kept.data);
    }
    request && request.abort();
    request = new AbortController();
    return fetch(path, { signal: request.signal })
      .then((answer) => answer.json())
      .then((body) => {
        const data = body.status === "success" ? body.data : [];
        if (answers.size > 200) {
          answers.clear();
        }
        answers.set(path, { at: Date.now(), data: data });
        return data;
      });
  }

  const PLAIN = /^[a-zA-Z_][a-zA-Z0-9_]*$/;
  // As a string of PromQL; between backticks nothing is escaped.
  const escaped = (text, mark) =>
    mark === "`" ? text : text.replace(/\\/g, "\\\\").split(mark).join("\\" + mark).replace(/\n/g, "\\n");
  const quoted = (text) => '"' + escaped(text, '"') + '"';
  const named = (label) => (PLAIN.test(label) ? label : quoted(label));
  const literal = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const unquoted = (text) => text.replace(/\\(.)/g, "$1");
  const match = (selector) => "match[]=" + encodeURIComponent(selector);

  function metrics() {
    return Promise.all([ask("/api/v1/label/__name__/values?limit=5000"), metadata()]).then(([names, known]) =>
      names.map((name) => {
        const about = known[name] && known[name][0];
        const unit = about && about.unit ? ", " + about.unit : "";
        return { text: name, kind: "metric", detail: about ? about.type + unit + ": " + about.help : "" };
      })
    );
  }

  // In addition to the names: without it, only names are suggested.
  let known = null;
  function metadata() {
    known =
      known ||
      fetch("/api/v1/metadata")
        .then((answer) => answer.json())
        .then((body) => body.data || {})
        .catch(() => {
          known = null;
          return {};
        });
    return known;
  }

  function suggested(context) {
    if (context.kind === "value") {
      const wanted = named(context.label) + "=~" + quoted("(?is).*" + literal(unquoted(context.typed)) + ".*") + "," + named(context.label) + '!=""';
      const path = "/api/v1/label/" + encodeURIComponent(context.label) + "/values?limit=" + SHOWN;
      return ask(path + "&" + match(context.metric + "{" + wanted + "}")).then((values) =>
        values.map((text) => ({ text: text, kind: "value", detail: "" }))
      );
    }
    if (context.kind === "label") {
      const path = "/api/v1/labels?limit=1000" + (context.metric ? "&" + match(context.metric) : "");
      return ask(path).then((names) =>
        names.filter((name) => name !== "__name__").map((text) => ({ text: text, kind: "label", detail: "" }))
      );
    }
    return metrics().then((found) => [...found, ...(scope.promqlWords || [])]);
  }

  // Those that begin with what was typed, then those that contain it.
  function fitting(options, typed) {
    const wanted = typed.toLowerCase();
    const at = (option) => option.text.toLowerCase().indexOf(wanted);
    const fits = options.filter((option) => at(option) >= 0 && option.text !== typed);
    return fits.sort((one, other) => Math.min(at(one), 1) - Math.min(at(other), 1)).slice(0, SHOWN);
  }

  // -- the list

  function suggest(byHand) {
    // A suggestion that was requested by hand is not closed by earlier typing.
    clearTimeout(timer);
    const area = box();
    if (!area || area.selectionStart !== area.selectionEnd) {
      return close();
    }
    if (!area.value.trim()) {
      return byHand ? open(scope.promqlRecent().map((text) => ({ text: text, kind: "recent", detail: "" })), { kind: "recent", from: 0, typed: "" }) : close();
    }
    const context = scope.promqlContext(area.value, area.selectionStart);
    const enough = context.kind === "word" ? context.typed.length >= 2 : context.kind !== "none";
    if (context.kind === "none" || !(enough || byHand)) {
      return close();
    }
    const before = area.value;
    return suggested(context)
      .then((options) => {
        if (box() === area && area.value === before && document.activeElement === area) {
          open(context.kind === "value" ? options : fitting(options, context.typed), context);
        }
      })
      .catch((error) => error.name === "AbortError" || close());
  }

  function open(options, context) {
    const place = list();
    if (!options.length) {
      return close();
    }
    shown = { options: options, active: -1, context: context };
    place.replaceChildren(
      ...options.map((option, number) => {
        const row = document.createElement("div");
        row.id = "promql-suggestion-" + number;
        row.className = "suggestion";
        row.setAttribute("role", "option");
        row.setAttribute("aria-selected", "false");
        const name = document.createElement("bdi");
        name.textContent = visible(option.text);
        const about = document.createElement("span");
        about.className = "suggestion-about";
        about.textContent = (place.dataset[option.kind] || option.kind) + (option.detail ? " · " + option.detail : "");
        row.append(name, about);
        return row;
      })
    );
    place.hidden = false;
    say((options.length === 1 ? place.dataset.one : place.dataset.many).replace("NUMBER", options.length));
  }

  // Hostile names: control and direction marks are shown, not obeyed.
  const visible = (text) =>
    text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (mark) => "⟨U+" + mark.codePointAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩").slice(0, 300);

  function say(words) {
    const place = document.getElementById("promql-suggested");
    if (place) {
      place.textContent = words;
    }
  }

  function close() {
    const place = list();
    if (place && !place.hidden) {
      place.hidden = true;
      place.replaceChildren();
      say("");
    }
    box() && box().removeAttribute("aria-activedescendant");
    shown = { options: [], active: -1, context: null };
  }

  function step(by) {
    const rows = Array.from(list().children);
    shown.active = (shown.active + by + rows.length + (shown.active < 0 && by < 0 ? 1 : 0)) % rows.length;
    rows.forEach((row, number) => row.setAttribute("aria-selected", String(number === shown.active)));
    rows[shown.active].scrollIntoView({ block: "nearest" });
    box().setAttribute("aria-activedescendant", rows[shown.active].id);
  }

  function accept(number) {
    const option = shown.options[number];
    const context = shown.context;
    const area = box();
    if (!option || !area) {
      return;
    }
    const behind = area.value.slice(area.selectionStart);
    const mark = area.value[context.from - 1];
    const writes = {
      function: option.text + (behind.startsWith("(") ? "" : "("),
      aggregation: option.text,
      label: named(option.text) + (context.inBraces && !/^\s*[=!]/.test(behind) ? '="' : ""),
      value: escaped(option.text, mark) + (behind.startsWith(mark) ? "" : mark),
    };
    const text = writes[option.kind] === undefined ? option.text : writes[option.kind];
    close();
    area.focus();
    area.setSelectionRange(context.from, area.selectionStart);
    // Typed rather than set: it can be undone, and input listeners are called.
    if (!document.execCommand("insertText", false, text)) {
      area.setRangeText(text, context.from, area.selectionEnd, "end");
      area.dispatchEvent(new Event("input", { bubbles: true }));
    }
    if (option.kind === "label" && context.inBraces) {
      suggest(true);
    }
  }

  // -- keys, typing, pointing

  const isBox = (element) => element && element.id === "promql-query";

  document.addEventListener("input", function (event) {
    if (isBox(event.target)) {
      clearTimeout(timer);
      timer = setTimeout(suggest, WAIT_MS, false);
    }
  });

  document.addEventListener(
    "keydown",
    function (event) {
      if (!isBox(event.target) || event.isComposing) {
        return;
      }
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey;
      const acts = {
        ArrowDown: isOpen() && plain && (() => step(1)),
        ArrowUp: isOpen() && plain && (() => step(-1)),
        Enter: isOpen() && plain && shown.active >= 0 && (() => accept(shown.active)),
        Tab: isOpen() && plain && shown.active >= 0 && (() => accept(shown.active)),
        Escape: isOpen() && close,
        " ": event.ctrlKey && (() => suggest(true)),
      };
      if (acts[event.key]) {
        event.preventDefault();
        event.stopPropagation();
        acts[event.key]();
      } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
        close();
      }
    },
    true
  );

  document.addEventListener("mousedown", function (event) {
    const row = event.target.closest && event.target.closest(".suggestion");
    if (row) {
      // Before the box loses the focus.
      event.preventDefault();
      accept(Array.from(row.parentNode.children).indexOf(row));
    }
  });

  document.addEventListener("focusout", (event) => isBox(event.target) && close());
})();
