"""Tables and figures of the papers, measured with this package."""
