"""What the Python tests of several folders share."""
