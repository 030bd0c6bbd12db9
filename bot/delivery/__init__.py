"""What goes where, and when."""
