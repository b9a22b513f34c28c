"""Small programs that behave like agent programs, for tests that must not need the real ones."""
