"""What a model may call: one module a subject, each tool a value, and `offered` the one list of them."""
