// The alerts page: what is typed goes into the address and is previewed from there.
(function () {
  "use strict";

  const PATH = "/alerts";
  const scope = window.throttlescope;
  let filled = null;
  let zone = "UTC";

  const value = (id) => (document.getElementById(id) || { value: "" }).value;

  function run() {
    const now = new URLSearchParams(window.location.search);
    const next = new URLSearchParams();
    const text = value("alerts-yaml").trim();
    const own = document.getElementById("alerts-own");
    // A rule of one's own is meant where it is open to be seen.
    if (text && own && own.open) {
      next.set("yaml", value("alerts-yaml"));
    } else if (now.get("rule")) {
      next.set("rule", now.get("rule"));
    } else if (text) {
      next.set("yaml", value("alerts-yaml"));
    }
    const from = scope.absoluteTime(value("alerts-from"), zone);
    const to = scope.absoluteTime(value("alerts-to"), zone);
    from && next.set("from", from);
    to && next.set("to", to);
    now.get("kind") && next.set("kind", now.get("kind"));
    filled = next.get("yaml") || "";
    const search = next.toString() ? "?" + next.toString() : "";
    if (search === window.location.search) {
      window.dash_clientside.set_props("alerts-again", { data: Date.now() });
    } else {
      scope.go("pushState", PATH + search);
    }
  }

  Object.assign(window.dash_clientside.throttlescope, {
    fillAlerts: function (search, shown, pathname, zoneName) {
      const none = window.dash_clientside.no_update;
      if (pathname !== PATH) {
        filled = null;
        return none;
      }
      zone = zoneName || "UTC";
      const address = new URLSearchParams(search || "");
      const text = address.get("yaml") || "";
      const own = document.getElementById("alerts-own");
      // The page came with its rule in the box: what was typed or opened since, while the first answer was awaited, stays.
      const first = filled === null;
      if (first) {
        filled = text;
      } else if (text !== filled) {
        if (text && text !== value("alerts-yaml")) {
          window.dash_clientside.set_props("alerts-yaml", { value: text });
        }
        if (own) {
          own.open = Boolean(text);
        }
        filled = text;
      }
      scope.put("alerts-from", scope.shownTime(address.get("from") || (shown && shown.from) || "", zone), first);
      scope.put("alerts-to", scope.shownTime(address.get("to") || (shown && shown.to) || "", zone), first);
      return none;
    },
  });

  document.addEventListener("click", function (event) {
    if (event.target.closest && event.target.closest("#alerts-run")) {
      run();
    }
  });

  document.addEventListener(
    "keydown",
    function (event) {
      const typing = event.target.closest && event.target.closest(".alerts-page textarea, .alerts-page input");
      if (typing && event.key === "Enter" && (event.ctrlKey || event.metaKey || typing.tagName === "INPUT")) {
        event.preventDefault();
        event.stopPropagation();
        run();
      }
    },
    true
  );
})();
