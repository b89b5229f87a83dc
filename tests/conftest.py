"""Loads the pytest plugins that all tests use."""

pytest_plugins = ["leftovers"]
