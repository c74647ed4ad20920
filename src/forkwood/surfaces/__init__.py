"""Floor 7: the ways in. Each is one folder, calls `Runtime` and nothing beneath it, and knows no other surface."""
