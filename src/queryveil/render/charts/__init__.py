"""Charts as SVG: one system of axes, markers and colors."""
