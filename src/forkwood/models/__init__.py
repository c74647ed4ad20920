"""Language models: how they are named, found, asked and played. Each implements the protocol of `domain/model.py`."""
