"""Steps on a GPU: times by size, agreement with the CPU, many copies at once."""
