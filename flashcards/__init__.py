"""The project package and the kernel that every app stands on."""
