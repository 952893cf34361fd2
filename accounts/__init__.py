"""Who may act, and on which workspace."""
