"""Attributes of the debug dialect: it has none."""
