// What is being written at the caret of a PromQL text: a word, a label, a label's value, a duration, or nothing to suggest.
(function () {
  "use strict";

  const WORD = /[a-zA-Z_:][a-zA-Z0-9_:]*/y;
  const GROUPING = ["by", "without", "on", "ignoring", "group_left", "group_right"];
  const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;

  // Returns {kind, from, typed, metric, label}: the suggestion takes the place of the text from `from` to the caret.
  function contextAt(text, caret) {
    const open = [];
    let at = 0;
    let word = { text: "", from: -1, to: -1 };
    while (at < caret) {
      const here = text[at];
      if (here === "#") {
        const end = text.indexOf("\n", at);
        if (end < 0 || end >= caret) {
          return { kind: "none", from: caret, typed: "" };
        }
        at = end + 1;
        continue;
      }
      if (here === '"' || here === "'" || here === "`") {
        const end = endOfString(text, at, caret);
        if (end < 0) {
          return inString(text.slice(at + 1, caret), at + 1, open);
        }
        const inner = text.slice(at + 1, end);
        word = { text: inner, from: at, to: end + 1 };
        at = end + 1;
        continue;
      }
      WORD.lastIndex = at;
      const found = WORD.exec(text);
      if (found) {
        const end = at + found[0].length;
        if (end >= caret) {
          return inWord(text.slice(at, caret), at, open);
        }
        word = { text: found[0], from: at, to: end };
        at = end;
        continue;
      }
      if (/[0-9]/.test(here)) {
        // A number or a duration: its letters are no word.
        const number = /[0-9a-zA-Z_.]+/y;
        number.lastIndex = at;
        at += number.exec(text)[0].length;
        if (at >= caret) {
          return { kind: "none", from: caret, typed: "" };
        }
        continue;
      }
      if (here === "{" || here === "(" || here === "[") {
        const touches = word.from >= 0 && text.slice(word.to, at).trim() === "";
        open.push({ bracket: here, word: touches ? word.text : "", label: "" });
      } else if (here === "}" || here === ")" || here === "]") {
        open.pop();
      } else if (open.length && open[open.length - 1].bracket === "{") {
        const frame = open[open.length - 1];
        if (here === "=" || here === "!") {
          frame.label = frame.label || word.text;
        } else if (here === ",") {
          frame.label = "";
        }
      }
      at += 1;
    }
    return inWord("", caret, open);
  }

  function endOfString(text, from, caret) {
    for (let at = from + 1; at < caret; at += 1) {
      if (text[at] === "\\" && text[from] !== "`") {
        at += 1;
      } else if (text[at] === text[from]) {
        return at;
      }
    }
    return -1;
  }

  function inString(typed, from, open) {
    const frame = open[open.length - 1];
    if (frame && frame.bracket === "{" && frame.label) {
      return { kind: "value", from: from, typed: typed, metric: metricOf(frame), label: frame.label };
    }
    return { kind: "none", from: from, typed: typed };
  }

  function inWord(typed, from, open) {
    const frame = open[open.length - 1];
    if (frame && frame.bracket === "[") {
      return { kind: "none", from: from, typed: typed };
    }
    if (frame && frame.bracket === "{") {
      const kind = frame.label ? "none" : "label";
      return { kind: kind, from: from, typed: typed, metric: metricOf(frame), inBraces: true };
    }
    if (frame && frame.bracket === "(" && GROUPING.includes(frame.word.toLowerCase())) {
      return { kind: "label", from: from, typed: typed, metric: "" };
    }
    return { kind: "word", from: from, typed: typed };
  }

  const metricOf = (frame) => (NAME.test(frame.word) ? frame.word : "");

  window.throttlescope.promqlContext = contextAt;
})();
