"""Attributes of the ttir dialect: none with a Python class of its own."""
