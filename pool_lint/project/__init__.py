"""What the modules that a file imports mean to it: found, outlined, cut to what matters, and linked."""
