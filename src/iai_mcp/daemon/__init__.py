"""The one long-lived process: start-up, lifecycle, drain, supervision."""
