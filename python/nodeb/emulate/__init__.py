"""Emulation: commands run as phones of a scenario; their packets cross its cell in real time.

Linux only: it needs network namespaces and TUN devices.
"""
