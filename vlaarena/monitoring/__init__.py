"""Monitoring for operators: log lines, Prometheus metrics and the admin's status page."""
