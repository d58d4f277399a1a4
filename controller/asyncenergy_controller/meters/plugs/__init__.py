"""Wall plugs: the power of the whole machine, over the local network."""
