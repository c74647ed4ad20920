"""Floor 0: values and pure rules. No clock, disk, network or chance: times and ids are handed in."""
