"""The review loop: scheduler, queue and submit."""
