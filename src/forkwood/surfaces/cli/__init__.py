"""The command line: commands that say what they did in words or JSON, and `chat`, a conversation line by line."""
