"""Benches of gradients through time."""
