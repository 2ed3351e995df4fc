// Charts of one page share their zoom, which is part of the address; a click on the ribbon opens that verdict.
(function () {
  "use strict";

  const { navigate, plainClick } = window.throttlescope;

  Object.assign(window.dash_clientside.throttlescope, {
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
      const wanted = range.map(timeOf);
      zoomAll(wanted);
      writeZoom(wanted);
      return none;
    },

    // A link with a zoom: the charts are drawn whole, so that a double click finds the way back, and zoomed at once.
    openZoomed: function () {
      // Charts that were made anew show everything.
      document.querySelectorAll(".chart-key button").forEach((entry) => entry.setAttribute("aria-pressed", "true"));
      const zoom = zoomOf(window.location.href);
      offerWhole(zoom);
      if (zoom) {
        whenDrawn((graphs) => zoomAll(zoom.map((at) => at + meta(graphs[0]).zone_offset_ms)));
      }
      return window.dash_clientside.no_update;
    },
  });

  const charts = () => Array.from(document.querySelectorAll("#subscription-page .js-plotly-plot"));
  const timeOf = (end) => (typeof end === "number" ? end : Date.parse(String(end).replace(" ", "T").replace(/Z?$/, "Z")));
  const meta = (graph) => (graph.layout && graph.layout.meta) || {};

  // Times as the charts have them: moved by their zone's offset.
  function zoomAll(wanted) {
    charts().forEach((graph) => {
      const now = graph.layout.xaxis.range.map(timeOf);
      if (Math.abs(now[0] - wanted[0]) > 1 || Math.abs(now[1] - wanted[1]) > 1) {
        window.Plotly.relayout(graph, { "xaxis.range[0]": wanted[0], "xaxis.range[1]": wanted[1] });
      }
    });
  }

  // The zoom goes into the address in UTC and to the second, without a request and without a step in the history.
  function writeZoom(shown) {
    const known = charts().map(meta).find((one) => one.start_ms !== undefined);
    if (!known) {
      return;
    }
    const whole = [known.start_ms, known.end_ms];
    const zoom = shown.map((at) => at - known.zone_offset_ms);
    const isWhole = Math.abs(zoom[0] - whole[0]) < 1000 && Math.abs(zoom[1] - whole[1]) < 1000;
    const url = new URL(window.location.href);
    const text = isWhole ? null : zoom.map(moment).join("..");
    if (text === url.searchParams.get("zoom")) {
      return;
    }
    text === null ? url.searchParams.delete("zoom") : url.searchParams.set("zoom", text);
    window.history.replaceState(window.history.state, "", url.pathname + url.search);
    offerWhole(zoomOf(url.href));
  }

  const moment = (at) => new Date(Math.round(at / 1000) * 1000).toISOString().replace(".000Z", "Z");

  function zoomOf(href) {
    const text = new URL(href).searchParams.get("zoom");
    const ends = (text || "").split("..").map((end) => Date.parse(end));
    return ends.length === 2 && ends[0] < ends[1] ? ends : null;
  }

  // What is zoomed into may be opened as a range of its own: every minute of it is drawn then.
  function offerWhole(zoom) {
    const link = document.getElementById("subscription-zoom-open");
    if (!link) {
      return;
    }
    link.hidden = !zoom;
    if (zoom) {
      const url = new URL(window.location.href);
      url.searchParams.delete("zoom");
      url.searchParams.delete("at");
      url.searchParams.set("from", moment(zoom[0]));
      url.searchParams.set("to", moment(zoom[1]));
      link.setAttribute("href", url.pathname + url.search);
    }
  }

  document.addEventListener("click", function (event) {
    const link = event.target.closest && event.target.closest("#subscription-zoom-open");
    if (link && plainClick(event)) {
      event.preventDefault();
      navigate(link.href, true);
    }
  });

  // A name of the key: what it means is hidden in all charts of the page, or shown again.
  document.addEventListener("click", function (event) {
    const entry = event.target.closest && event.target.closest(".chart-key button");
    if (!entry) {
      return;
    }
    const named = (parts) => (parts || []).flatMap((part, at) => (part.name === entry.dataset.name ? [at] : []));
    const found = Array.from(document.querySelectorAll("#page .js-plotly-plot"), (graph) => ({
      graph: graph,
      traces: named(graph.data),
      shapes: named(graph.layout && graph.layout.shapes),
    }));
    const isShown = (part) => part.visible !== false;
    const hide = found.some(
      (one) => one.traces.some((at) => isShown(one.graph.data[at])) || one.shapes.some((at) => isShown(one.graph.layout.shapes[at]))
    );
    found.forEach(function (one) {
      one.traces.length && window.Plotly.restyle(one.graph, { visible: !hide }, one.traces);
      one.shapes.forEach((at) => window.Plotly.relayout(one.graph, { ["shapes[" + at + "].visible"]: !hide }));
    });
    entry.setAttribute("aria-pressed", String(!hide));
  });

  // Graphs are drawn one after the other, after their script has come.
  function whenDrawn(act) {
    const until = Date.now() + 20000;
    (function look() {
      const wanted = document.querySelectorAll("#subscription-page .dash-graph").length;
      const drawn = charts().filter((graph) => graph._fullLayout && graph.layout.xaxis);
      if (wanted && drawn.length >= wanted) {
        act(drawn);
      } else if (Date.now() < until) {
        window.setTimeout(look, 60);
      }
    })();
  }

  // Plotly's script is the largest of all and comes with the first chart: fetched before, while somebody reads a page without one, and not in
  // the moment in which that page itself is made. It is not run before there is a chart: that blocks the page for a moment.
  const LATER_MS = 2500;
  window.addEventListener("load", () => window.setTimeout(fetchPlotly, LATER_MS));

  function fetchPlotly() {
    const src = window._dashPlotlyJSURL;
    // A page with a chart has loaded it already.
    if (src && !window.Plotly && !document.querySelector(".dash-graph")) {
      document.head.appendChild(Object.assign(document.createElement("link"), { rel: "prefetch", as: "script", href: src }));
    }
  }
})();
