"""Where fits run: in this process, in others, on a cluster."""
