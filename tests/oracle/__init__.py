"""The execution oracle: generated functions are run on every path, and what leaks is compared with what is reported."""
