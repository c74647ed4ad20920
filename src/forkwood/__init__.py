"""Forkwood: a local AI assistant in which nothing is lost."""

__version__ = "0.1.0"
