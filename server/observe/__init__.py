"""What is told of requests: the access log and the metrics."""
