"""How many connections a program may open or keep: connections, values of limits, and pools without one."""
