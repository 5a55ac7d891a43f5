"""Which expressions of a file are pools."""
