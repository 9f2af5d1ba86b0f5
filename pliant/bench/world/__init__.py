"""Benches of scenes with bodies of several kinds."""
