"""How control flows through one function: its graph, and which variables are still read where."""
