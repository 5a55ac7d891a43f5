"""What happens to each borrowed object on each path."""
