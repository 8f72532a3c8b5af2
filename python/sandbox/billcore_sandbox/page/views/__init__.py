"""The views of the page: each reads the store through the control routes, and renders a template."""
