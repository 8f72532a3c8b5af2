"""The HTTP server: connections, the record of requests, and faults in front of the service."""
