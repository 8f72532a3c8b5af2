"""The control routes below /_sandbox/, one module for each kind of object."""
