"""Benchmarks, run by hand: each measures ours next to its limit in the same run."""
