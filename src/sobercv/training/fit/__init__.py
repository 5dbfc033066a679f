"""What one fit is: the problem, the configurations, the splits, the task and its outcome."""
