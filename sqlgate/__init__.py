"""The SQL dialect that agents read and write flashcards in."""
