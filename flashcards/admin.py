"""The admin site for operators."""
