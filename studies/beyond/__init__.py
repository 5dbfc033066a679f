"""What the paper left open: numbers, survival times and many classes."""
