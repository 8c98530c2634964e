"""What queries mean: a query becomes concepts of a taxonomy.

`Taxonomy` holds concepts (WordNet is inside, `loaders` bring others), `Mapper` finds them in
queries, and `profiles` say what each user is interested in.
"""
