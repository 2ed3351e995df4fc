// A chart as PNG or SVG: the buttons next to its title. On white, whatever the page's scheme is: a report is read on paper.
(function () {
  "use strict";

  const SCALE = 2;

  document.addEventListener("click", function (event) {
    const button = event.target.closest && event.target.closest("button.chart-save");
    const section = button && button.closest("section, .chart-box");
    const graph = section && section.querySelector(".js-plotly-plot");
    if (!graph) {
      return;
    }
    const format = button.dataset.format;
    const head = section.querySelector("h2");
    const title = head ? head.textContent : button.dataset.name;
    // The key is text of the page: in a picture the chart has its own legend.
    const named = graph.data.filter((trace) => trace.showlegend !== false && trace.name);
    const legend_px = named.length > 1 ? 26 : 0;
    const layout = Object.assign({}, graph.layout, {
      showlegend: legend_px > 0,
      paper_bgcolor: "#ffffff",
      plot_bgcolor: "#ffffff",
      title: { text: title, font: { size: 14 }, x: 0.01, y: 0.99, yanchor: "top", pad: { t: 4 } },
      margin: Object.assign({}, graph.layout.margin, { t: (graph.layout.margin.t || 0) + 26 + legend_px }),
    });
    const size = { width: graph.clientWidth, height: graph.clientHeight + 26 + legend_px };
    window.Plotly.downloadImage(
      { data: graph.data, layout: layout },
      Object.assign(size, { format: format, filename: button.dataset.name, scale: format === "png" ? SCALE : 1 })
    );
  });
})();
