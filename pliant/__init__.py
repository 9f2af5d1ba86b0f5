"""pliant: physically based animation and elastodynamics you can trust."""

__version__ = "0.1.0"
