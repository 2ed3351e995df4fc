// The What-if lab: what is moved goes into the address, the address to the server. One question for runs is on its way at a time,
// and the newest goes next, so that a slider that is dragged is answered as fast as the server can.
(function () {
  "use strict";

  const PATH = "/what-if";
  const NOTHING = "nothing";
  const MOST_RUNS = 4;
  const GESTURE_MS = 1500;
  const LOST_MS = 30000;
  const WINDOW = ["cluster", "topic", "partition", "subscription", "from", "to"];
  const RUNS = WINDOW.concat(["when", "ahead", "run", "chosen"]);
  const { go } = window.throttlescope;

  // asked: the question that is on its way; pending: an address that waits for its answer; written: what this script wrote last.
  const state = { asked: null, pending: null, pendingAt: null, written: null, writtenAt: 0, same: null };

  const none = () => window.dash_clientside.no_update;

  function partOf(search, keys) {
    const query = new URLSearchParams(search || "");
    const part = new URLSearchParams();
    keys.forEach((key) => query.getAll(key).forEach((value) => part.append(key, value)));
    const text = part.toString();
    return text ? "?" + text : "";
  }

  function runsOf(query) {
    const runs = query.getAll("run").slice(0, MOST_RUNS);
    return runs.length ? runs : [NOTHING];
  }

  function chosenOf(query, runs) {
    return Math.min(Math.max(parseInt(query.get("chosen") || "1", 10) || 1, 1), runs.length) - 1;
  }

  function settingsOf(run) {
    const words = run.trim() === NOTHING ? [] : run.trim().split(/\s+/);
    return new Map(words.filter(Boolean).map((word) => [word.split("=")[0], word.split("=").slice(1).join("=")]));
  }

  function withRuns(search, runs, chosen) {
    const query = new URLSearchParams(search || "");
    query.delete("run");
    query.delete("chosen");
    if (runs.length > 1 || runs[0] !== NOTHING) {
      runs.forEach((run) => query.append("run", run));
    }
    if (chosen) {
      query.append("chosen", String(chosen + 1));
    }
    return "?" + query.toString();
  }

  // A gesture is one step of the history, however many values it passes.
  // The wait for an answer counts from its request, however long the answer took.
  function write(search, at) {
    const now = at || Date.now();
    if (state.asked && Date.now() - state.asked.at < LOST_MS) {
      Object.assign(state, { pending: search, pendingAt: state.pendingAt || now });
      return;
    }
    const how = now - state.writtenAt < GESTURE_MS ? "replaceState" : "pushState";
    Object.assign(state, { written: search, writtenAt: now, pending: null, pendingAt: null });
    go(how, PATH + search);
  }

  // Whether a request is on its way; a request for another window does not count: its answer is not needed.
  function waits(wanted) {
    const isOnItsWay = state.asked && Date.now() - state.asked.at < LOST_MS;
    return isOnItsWay && partOf(state.asked.query, WINDOW) === partOf(wanted, WINDOW);
  }

  function ask(wanted) {
    state.asked = { query: wanted, at: Date.now() };
    return wanted;
  }

  function positionOf(scale, text) {
    if (text === undefined || text === "") {
      return scale.now;
    }
    if (text === "none") {
      return scale.liftable ? scale.steps + 1 : null;
    }
    const value = Number(text);
    if (!Number.isFinite(value)) {
      return null;
    }
    if (value <= scale.low) {
      return 0;
    }
    const share = Math.log(Math.min(value, scale.high) / scale.low) / Math.log(scale.high / scale.low);
    return Math.round(scale.steps * share);
  }

  // As it would be typed: three digits; nothing where the slider is at the current value.
  function textAt(scale, position) {
    if (position === scale.now) {
      return "";
    }
    if (position > scale.steps) {
      return "none";
    }
    const value = scale.low * Math.pow(scale.high / scale.low, position / scale.steps);
    const rounded = Number(value.toPrecision(3));
    return String(scale.whole ? Math.max(1, Math.round(rounded)) : rounded);
  }

  function show(key, type, value) {
    window.dash_clientside.set_props({ type: type, key: key }, { value: value });
  }

  function letter(search) {
    const query = new URLSearchParams(search || "");
    const words = document.getElementById("what-if-moves").dataset.words;
    return words.replace("RUN", "ABCD"[chosenOf(query, runsOf(query))]);
  }

  // Another run was chosen, or somebody went back: the controls follow the address.
  function follow(search, scales) {
    const query = new URLSearchParams(search || "");
    const runs = runsOf(query);
    const settings = settingsOf(runs[chosenOf(query, runs)]);
    Object.keys(scales || {}).forEach((key) => {
      const position = positionOf(scales[key], settings.get(key));
      show(key, "what-if-value", settings.get(key) || "");
      if (position !== null) {
        show(key, "what-if-slider", position);
      }
    });
  }

  function moved(id, value, scales) {
    const scale = scales && scales[id.key];
    const base = state.pending || window.location.search;
    const query = new URLSearchParams(base);
    const runs = runsOf(query);
    const chosen = chosenOf(query, runs);
    const settings = settingsOf(runs[chosen]);
    const before = settings.get(id.key) || "";
    if (!scale || value === null || value === undefined) {
      return;
    }
    let text = String(value).trim().replace(/\s+/g, "");
    if (id.type === "what-if-slider") {
      if (value === positionOf(scale, before)) {
        return;
      }
      text = textAt(scale, value);
      show(id.key, "what-if-value", text);
    } else if (text === before) {
      return;
    } else {
      const position = positionOf(scale, text);
      position !== null && show(id.key, "what-if-slider", position);
    }
    text ? settings.set(id.key, text) : settings.delete(id.key);
    runs[chosen] = Array.from(settings, ([key, word]) => key + "=" + word).join(" ") || NOTHING;
    write(withRuns(base, runs, chosen));
  }

  document.addEventListener("click", function (event) {
    const button = event.target.closest && event.target.closest(".what-if-try");
    if (!button) {
      return;
    }
    const query = new URLSearchParams(window.location.search);
    const runs = runsOf(query);
    let chosen = chosenOf(query, runs);
    if (runs[chosen] !== NOTHING && runs.length < MOST_RUNS) {
      chosen = runs.length;
    }
    runs[chosen] = button.dataset.run;
    go("pushState", PATH + withRuns(window.location.search, runs, chosen));
  });

  Object.assign(window.dash_clientside.throttlescope, {
    // Which window: only another one rebuilds the page.
    whatIfWindow: function (search, pathname, before) {
      if (pathname !== PATH) {
        return none();
      }
      const part = partOf(search, WINDOW) || "?";
      if (part === before || (before && part === state.same)) {
        return none();
      }
      state.same = null;
      return part;
    },

    whatIfJobNamed: function (search, pathname, before) {
      const name = new URLSearchParams(search || "").get("job") || "";
      return pathname !== PATH || name === before ? none() : name;
    },

    whatIfAsk: function (search, pathname, before) {
      if (pathname !== PATH) {
        return none();
      }
      if (!before) {
        // A new place: the request for another one no longer counts.
        state.asked = null;
      }
      const wanted = partOf(search, RUNS);
      return wanted === before || waits(wanted) ? none() : ask(wanted);
    },

    // The answer is there: what was moved meanwhile goes into the address, and the address is evaluated.
    whatIfAnswered: function (answered) {
      if (answered && state.asked && answered[0] === state.asked.query) {
        const before = state.asked.query;
        state.asked = null;
        const wanted = partOf(window.location.search, RUNS);
        if (state.pending) {
          write(state.pending, state.pendingAt);
        } else if (wanted !== before && window.location.pathname === PATH) {
          window.dash_clientside.set_props("what-if-asked", { data: ask(wanted) });
        }
      }
      return none();
    },

    whatIfAbsolute: function (href) {
      if (href && window.location.pathname === PATH) {
        const search = new URL(href, window.location.origin).search;
        state.same = partOf(search, WINDOW);
        const query = new URLSearchParams(window.location.search);
        const absolute = new URLSearchParams(search);
        ["from", "to"].forEach((key) => query.set(key, absolute.get(key)));
        go("replaceState", PATH + "?" + query.toString());
      }
      return none();
    },

    whatIfJobBegun: function (begun) {
      if (begun && window.location.pathname === PATH) {
        const query = new URLSearchParams(window.location.search);
        query.set("job", begun[0]);
        go("pushState", PATH + "?" + query.toString());
      }
      return none();
    },

    whatIfMove: function (search, values, positions, scales, pathname) {
      if (pathname !== PATH) {
        return none();
      }
      const id = window.dash_clientside.callback_context.triggered_id;
      if (id && typeof id === "object") {
        const trigger = window.dash_clientside.callback_context.triggered[0];
        moved(id, trigger && trigger.value, scales);
      } else if (search !== state.written && !state.pending) {
        follow(search, scales);
      }
      return letter(search);
    },

    whatIfSearch: function (text, pathname) {
      if (pathname === PATH) {
        const query = new URLSearchParams(window.location.search);
        if ((query.get("q") || "") !== (text || "") && !query.get("subscription")) {
          text ? query.set("q", text) : query.delete("q");
          go("replaceState", PATH + (query.toString() ? "?" + query.toString() : ""));
        }
      }
      return none();
    },
  });
})();
