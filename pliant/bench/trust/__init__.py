"""What we promise, tried by programs that want to break it."""
