"""One module a step, numbered in the order in which they run; a published step is never edited."""
