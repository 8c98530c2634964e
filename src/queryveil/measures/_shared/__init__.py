"""What several measures compute alike."""
