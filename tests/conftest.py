"""Plugins of all tests."""

pytest_plugins = ["leftovers"]
