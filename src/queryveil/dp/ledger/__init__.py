"""What was spent on a population: a file to which rows are only ever added."""
