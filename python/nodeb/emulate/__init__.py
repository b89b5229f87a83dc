"""Emulation: commands run as phones of a scenario; their packets cross its cell in real time.

`session.emulate` runs an emulation. `plan.make` selects the users whose packets are real.
`endpoint_process` is the program that runs in each network namespace. Linux only: it needs network
namespaces and TUN devices.
"""
