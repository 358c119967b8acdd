"""Graphs drawn: the nodes and edges, their places, and the text of SVG and DOT."""
