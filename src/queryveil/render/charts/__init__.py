"""Charts: one system of axes, legends, markers and colors; `_charts.html.j2` draws them."""
