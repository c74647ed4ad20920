"""Two other programs that keep conversations, each measured by a script that runs in an environment of its own."""
