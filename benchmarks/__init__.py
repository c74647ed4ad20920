"""What Forkwood costs: one table, each line a ratio to a floor measured in the same run."""
