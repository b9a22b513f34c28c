"""Custody of the store's key: from a passphrase, the OS keyring, or a private file."""
