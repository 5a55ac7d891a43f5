"""The commands: one module for each group of them, with a table of what it offers."""
