"""Sharing memories between one's machines and in a team: circles, devices, sealed streams."""
