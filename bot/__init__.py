"""Briefbot: tech briefs for Discord."""

__version__ = "0.1.0"
