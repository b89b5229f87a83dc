"""What others have measured, and nodeb on the same paths: downloads by a Linux kernel."""
