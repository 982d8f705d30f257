"""Charts as plain SVG: scatter with fit, grouped bars, lines; axes, units, legend, for light and dark pages."""

from pratique_local.paper.charts.bars import Bars, bar_chart
from pratique_local.paper.charts.lines import Line, line_chart
from pratique_local.paper.charts.scatter import Panel, Points, scatter_chart

__all__ = ["Bars", "Line", "Panel", "Points", "bar_chart", "line_chart", "scatter_chart"]
