"""Graphs drawn: what there is to draw, where it goes, and the text of SVG and DOT."""
