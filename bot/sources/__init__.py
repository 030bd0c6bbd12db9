"""Where briefs come from."""
