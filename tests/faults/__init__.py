"""Faults that really happen to a build: kills, full disks, missing permissions, interrupts, readers and rivals."""
