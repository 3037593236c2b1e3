"""The names of inspect_ai that tau2's tools use, so that a plugin does not import all of it."""
