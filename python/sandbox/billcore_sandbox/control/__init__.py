"""The control routes below /_sandbox/, one file for each noun."""
