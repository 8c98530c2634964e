"""The text way: words, tags, stop words, stems and names."""
