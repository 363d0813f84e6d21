"""Attributes of the stablehlo dialect: none with a Python class of its own."""
