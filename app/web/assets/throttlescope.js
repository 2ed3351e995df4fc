// What must happen in the browser: following links without a reload, filters in the address,
// the grid's badges and links, one zoom for all charts, keys. Names arrive as text and stay text:
// nothing here builds HTML from strings.
(function () {
  "use strict";

  const SUBSCRIPTIONS = "/subscriptions";

  function navigate(href, stay) {
    const url = new URL(href, window.location.origin);
    if (url.origin !== window.location.origin) {
      return;
    }
    go("pushState", url.pathname + url.search);
    if (!stay) {
      window.scrollTo(0, 0);
    }
  }

  // The way of the back button: the address changes, and dcc.Location reads it anew.
  function go(how, path) {
    window.history[how](null, "", path);
    window.dispatchEvent(new PopStateEvent("popstate"));
  }

  function plainClick(event) {
    return !(event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  }

  // -- clientside callbacks ---------------------------------------------------------------

  let titledPath = null;

  window.dash_clientside = window.dash_clientside || {};
  window.dash_clientside.throttlescope = {
    setTitle: function (pathname, search) {
      const query = new URLSearchParams(search || "");
      const name = pathname === "/subscription" ? query.get("subscription") : null;
      document.title = name ? name.slice(0, 80) + " - throttlescope" : "throttlescope";
      if (titledPath !== null && titledPath !== pathname) {
        // A reader of the screen starts at the new page, not at the link that was clicked.
        const page = document.getElementById("page");
        page && page.focus({ preventScroll: true });
      }
      titledPath = pathname;
      document.querySelectorAll(".shell-link").forEach((link) => {
        const here = link.getAttribute("href") === pathname;
        here ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
      });
      return "shell-page";
    },

    // The address wins when it changed; otherwise the inputs are written into it, without a new
    // entry in the history for every key.
    syncFilters: function (search, text, clusters, pathname) {
      const none = window.dash_clientside.no_update;
      if (pathname !== SUBSCRIPTIONS) {
        return none;
      }
      const query = new URLSearchParams(search || "");
      const wanted = [query.get("q") || "", query.getAll("cluster")];
      const shown = [(text || "").trim(), clusters || []];
      const triggered = window.dash_clientside.callback_context.triggered_id;
      if (triggered !== "subscriptions-search" && triggered !== "subscriptions-clusters") {
        if (wanted[0] !== shown[0]) {
          window.dash_clientside.set_props("subscriptions-search", { value: wanted[0] });
        }
        if (JSON.stringify(wanted[1]) !== JSON.stringify(shown[1])) {
          window.dash_clientside.set_props("subscriptions-clusters", { value: wanted[1] });
        }
        return none;
      }
      if (wanted[0] === shown[0] && JSON.stringify(wanted[1]) === JSON.stringify(shown[1])) {
        return none;
      }
      const next = new URLSearchParams();
      if (shown[0]) {
        next.append("q", shown[0]);
      }
      shown[1].forEach((cluster) => next.append("cluster", cluster));
      ["cause", "view", "own"].forEach((key) => query.getAll(key).forEach((value) => next.append(key, value)));
      const written = next.toString() ? "?" + next.toString() : "";
      go("replaceState", SUBSCRIPTIONS + written);
      return none;
    },

    refreshGrid: function () {
      window.dash_ag_grid.getApiAsync("subscriptions-grid").then((api) => api.purgeInfiniteCache());
      return window.dash_clientside.no_update;
    },

    // A click on a stretch of the ribbon: the same page, telling the verdict at its end.
    tellWindow: function () {
      const triggered = window.dash_clientside.callback_context.triggered[0];
      const point = triggered && triggered.value && triggered.value.points && triggered.value.points[0];
      if (point && typeof point.customdata === "string" && triggered.prop_id.includes('"panel":"verdict"')) {
        const url = new URL(window.location.href);
        url.searchParams.set("at", point.customdata);
        navigate(url.href, true);
      }
      return window.dash_clientside.no_update;
    },

    linkZoom: function () {
      const none = window.dash_clientside.no_update;
      const triggered = window.dash_clientside.callback_context.triggered[0];
      const change = triggered && triggered.value;
      if (!change) {
        return none;
      }
      const range = change["xaxis.range"] || [change["xaxis.range[0]"], change["xaxis.range[1]"]];
      if (range[0] === undefined || range[1] === undefined) {
        return none;
      }
      const ends = (pair) => pair.map((end) => (typeof end === "number" ? end : Date.parse(String(end).replace(" ", "T").replace(/Z?$/, "Z"))));
      const wanted = ends(range);
      document.querySelectorAll("#subscription-content .js-plotly-plot").forEach((graph) => {
        const now = ends(graph.layout.xaxis.range);
        if (Math.abs(now[0] - wanted[0]) > 1 || Math.abs(now[1] - wanted[1]) > 1) {
          window.Plotly.relayout(graph, { "xaxis.range[0]": range[0], "xaxis.range[1]": range[1] });
        }
      });
      return none;
    },
  };

  // -- the grids --------------------------------------------------------------------------

  const functions = (window.dashAgGridFunctions = window.dashAgGridFunctions || {});

  functions.openOnEnter = function (params) {
    if (params.event && params.event.key === "Enter" && params.data) {
      navigate(params.data.href);
    }
  };

  functions.openOnClick = function (params) {
    const event = params.event;
    const onLink = event && event.target.closest && event.target.closest("a");
    if (params.data && event && !onLink && plainClick(event) && !window.getSelection().toString()) {
      navigate(params.data.href);
    }
  };

  const components = (window.dashAgGridComponentFunctions = window.dashAgGridComponentFunctions || {});

  components.CauseBadge = function (props) {
    const field = props.colDef.field;
    if (!props.value) {
      return null;
    }
    const badge = React.createElement(
      "span",
      { className: "cause-badge" },
      React.createElement(
        "span",
        { className: "cause-mark", style: { color: props.data[field + "_colour"] }, "aria-hidden": "true" },
        props.data[field + "_mark"]
      ),
      React.createElement("span", null, props.value),
      React.createElement("span", { className: "cause-extra" }, props.data[field + "_extra"])
    );
    const href = props.data[field + "_href"];
    return href ? link(href, badge) : badge;
  };

  components.SubscriptionLink = function (props) {
    return props.data ? link(props.data.href, React.createElement("bdi", null, props.value)) : null;
  };

  function link(href, content) {
    const follow = (event) => {
      if (plainClick(event)) {
        event.preventDefault();
        navigate(href);
      }
    };
    return React.createElement("a", { href: href, tabIndex: -1, onClick: follow }, content);
  }

  // -- keys -------------------------------------------------------------------------------

  document.addEventListener("keydown", function (event) {
    const typing = event.target.closest && event.target.closest("input, textarea, select, [contenteditable=true]");
    const box = document.getElementById("subscriptions-search");
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      if (box) {
        box.focus();
        box.select();
      } else {
        navigate(SUBSCRIPTIONS);
      }
    } else if (event.key === "Escape" && typing === box && box) {
      box.blur();
    } else if (event.key === "ArrowDown" && typing === box && box) {
      event.preventDefault();
      const api = window.dash_ag_grid.getApi("subscriptions-grid");
      if (api && api.getDisplayedRowCount()) {
        api.setFocusedCell(0, "subscription");
      }
    }
  });
})();
