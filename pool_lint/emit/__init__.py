"""Emitters: one function from findings to text each."""
