"""Steps that choose their size: what they promise, and what they cost."""
