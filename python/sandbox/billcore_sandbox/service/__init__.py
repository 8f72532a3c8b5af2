"""The operations of the service interface, as HTTP routes."""
