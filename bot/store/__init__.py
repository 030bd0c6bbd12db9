"""What is remembered: the only package that imports sqlalchemy."""
