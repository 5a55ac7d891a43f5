"""Whether a pool is worth having: what it pools, whether borrowed objects escape, and the verdict of the costs."""
