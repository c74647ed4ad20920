"""Forkwood: a local AI assistant in which nothing is lost."""
