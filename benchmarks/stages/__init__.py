"""The parts of `make bench`; each takes a context and returns what goes into the result file."""
