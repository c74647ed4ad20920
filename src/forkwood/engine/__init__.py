"""Floor 4: runs are driven here. Models and tools come as values; what happens goes through `store`, step by step."""
