// The grids: badges, counts, links, rows that open by click and by Enter, and rows that are requested again.
(function () {
  "use strict";

  const { navigate, plainClick } = window.throttlescope;

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

  window.dash_clientside.throttlescope.refreshGrid = function (shown, id) {
    window.dash_ag_grid.getApiAsync(id).then((api) => api.purgeInfiniteCache());
    return window.dash_clientside.no_update;
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

  components.CauseCounts = function (props) {
    return React.createElement(
      "span",
      { className: "cause-counts" },
      (props.value || []).map((cause) =>
        React.createElement(
          "span",
          { key: cause.label, className: "cause-count" },
          React.createElement("span", { className: "cause-mark", style: { color: cause.colour }, "aria-hidden": "true" }, cause.mark),
          React.createElement("span", { className: "sr-only" }, cause.label + " "),
          cause.count
        )
      )
    );
  };

  // A path of 132 by 26 pixels, see app/presentation/figures/sparkline.py; the cell's text is what it shows.
  components.Sparkline = function (props) {
    if (!props.value) {
      return null;
    }
    const path = React.createElement("path", { d: props.value });
    const words = { role: "img", "aria-label": props.data[props.colDef.field + "_words"] };
    // As wide as its cell: only the time axis is scaled, and the line keeps its thickness (vector-effect in the style sheet).
    const size = { viewBox: "0 0 132 26", width: "100%", height: 26, preserveAspectRatio: "none" };
    return React.createElement("svg", { className: "cell-sparkline", ...size, ...words }, path);
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
})();
