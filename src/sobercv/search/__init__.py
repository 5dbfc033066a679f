"""The searches: where training and inference are connected."""
