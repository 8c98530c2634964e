"""Parts without a domain: declared parameters, randomness, progress, files, optional packages."""
