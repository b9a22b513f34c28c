"""The agents half put together: adapters chosen, and every use case callable by its wire name."""
