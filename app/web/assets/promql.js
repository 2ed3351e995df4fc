// The PromQL console: what is typed goes into the address and is evaluated from there. Suggestions are in promql_suggest.js.
(function () {
  "use strict";

  const PATH = "/promql";
  const HISTORY = "throttlescope-promql";
  const MOST = 20;
  const scope = window.throttlescope;
  let filled = null;

  const value = (id) => (document.getElementById(id) || { value: "" }).value;
  const zone = () => scope.promqlZone || "UTC";

  function recent() {
    try {
      const kept = JSON.parse(window.localStorage.getItem(HISTORY) || "[]");
      return Array.isArray(kept) ? kept.filter((one) => typeof one === "string").slice(0, MOST) : [];
    } catch (error) {
      return [];
    }
  }

  function remember(query) {
    try {
      const kept = [query, ...recent().filter((one) => one !== query)].slice(0, MOST);
      window.localStorage.setItem(HISTORY, JSON.stringify(kept));
    } catch (error) {
      // Private windows keep nothing; the console works without.
    }
  }

  function run() {
    const query = value("promql-query").trim();
    const now = new URLSearchParams(window.location.search);
    const next = new URLSearchParams();
    const parts = {
      query: query,
      from: scope.absoluteTime(value("promql-from"), zone()),
      to: scope.absoluteTime(value("promql-to"), zone()),
      step: value("promql-step").trim(),
      tab: now.get("tab") || "",
    };
    Object.entries(parts).forEach(([name, text]) => text && next.set(name, text));
    if (query) {
      remember(query);
    }
    filled = query;
    const search = next.toString() ? "?" + next.toString() : "";
    if (search === window.location.search) {
      // The same again: the address does not change, the lake may have.
      window.dash_clientside.set_props("promql-again", { data: Date.now() });
    } else {
      scope.go("pushState", PATH + search);
    }
  }

  Object.assign(scope, { promqlRun: run, promqlRecent: recent });

  Object.assign(window.dash_clientside.throttlescope, {
    // The address wins where it changed; what is being typed stays.
    fillPromql: function (search, shown, pathname, words, zoneName) {
      const none = window.dash_clientside.no_update;
      if (pathname !== PATH) {
        filled = null;
        return none;
      }
      scope.promqlWords = words || [];
      scope.promqlZone = zoneName || "UTC";
      const address = new URLSearchParams(search || "");
      const query = address.get("query") || "";
      // The page came with its query in the box: what was typed since, while the first answer was awaited, stays.
      const first = filled === null;
      if (!first && query !== filled && query !== value("promql-query").trim()) {
        window.dash_clientside.set_props("promql-query", { value: query });
      }
      filled = query;
      const from = address.get("from") || (shown && shown.from) || "";
      const to = address.get("to") || (shown && shown.to) || "";
      scope.put("promql-from", scope.shownTime(from, zone()), first);
      scope.put("promql-to", scope.shownTime(to, zone()), first);
      scope.put("promql-step", address.get("step") || "", first);
      return none;
    },
  });

  document.addEventListener("click", function (event) {
    if (event.target.closest && event.target.closest("#promql-run")) {
      run();
    }
  });

  document.addEventListener(
    "keydown",
    function (event) {
      const typing = event.target.closest && event.target.closest(".promql-form textarea, .promql-form input");
      const inTime = typing && typing.tagName === "INPUT";
      if (typing && event.key === "Enter" && (event.ctrlKey || event.metaKey || inTime)) {
        event.preventDefault();
        event.stopPropagation();
        run();
      }
    },
    true
  );
})();
