"""The checks of `doctor`: each returns a result, the detail and the fix."""
