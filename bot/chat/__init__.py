"""Discord: the only package, with the playground, that imports discord."""
