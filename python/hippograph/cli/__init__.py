"""The command `hippograph`: one module per command, rendering apart from the work."""
