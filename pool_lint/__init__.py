"""Find objects that are borrowed from a pool and not given back: a flake8 plugin and a command."""

__version__ = "0.1.0"
