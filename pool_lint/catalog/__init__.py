"""What is known of pool libraries, written in TOML: one file per library."""
