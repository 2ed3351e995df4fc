// Places of charts (see components/chart_place.py): one chart is drawn at a time, those in sight first, and the page can answer in between.
(function () {
  "use strict";

  const LOOK_MS = 50;
  // What waits for being drawn: its place and how to.
  const waiting = [];

  window.throttlescope.ChartPlace = function ChartPlace(props) {
    const { createElement, useEffect, useRef, useState } = window.React;
    const [isDrawn, setDrawn] = useState(false);
    const place = useRef(null);
    useEffect(function () {
      const entry = { place: place.current, draw: () => setDrawn(true) };
      waiting.push(entry);
      waiting.length === 1 && window.setTimeout(drawNext);
      return function () {
        waiting.includes(entry) && waiting.splice(waiting.indexOf(entry), 1);
      };
    }, []);
    // What waits is a chart that is not drawn yet for those who wait for all charts.
    const shown = isDrawn ? props.children : createElement("div", { className: "dash-graph" });
    return createElement("div", { ref: place, style: { minHeight: props.height } }, shown);
  };

  function drawNext() {
    const next = waiting.reduce((best, entry) => (best && distance(best) <= distance(entry) ? best : entry), null);
    if (next) {
      waiting.splice(waiting.indexOf(next), 1);
      next.draw();
      drawRest();
    }
  }

  // The first chart of all loads Plotly's script.
  function drawRest() {
    waiting.length && window.setTimeout(window.Plotly ? drawNext : drawRest, window.Plotly ? 0 : LOOK_MS);
  }

  // From the part of the page that is in sight, in pixels.
  function distance(entry) {
    const box = entry.place.getBoundingClientRect();
    return Math.max(0, box.top - window.innerHeight, -box.bottom);
  }
})();
