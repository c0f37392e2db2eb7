"""Serves a site on this machine, and shows documents in it as soon as they are saved."""
