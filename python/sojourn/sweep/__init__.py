"""Many scenarios, on the cores of this machine."""
