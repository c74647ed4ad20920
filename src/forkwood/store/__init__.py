"""Floor 2: all SQL. A function that takes a transaction never opens one."""
