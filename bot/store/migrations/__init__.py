"""Steps from one version of the tables to the next; ``bot.store.upgrade`` runs them at start."""
