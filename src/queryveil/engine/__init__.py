"""Where the heavy whole-log steps run.

The room knows no method. It gives the few relational steps that methods are made of
(`steps`), which run here or on a cluster (`far`, `spark`), the one source of randomness
(`chance`), a way to tell how far a run is (`progress`), the overlap of reading with computing
(`prefetch`), files that appear whole or not at all (`files`, `renaming`), and small files of
others, read within bounds (`bounded`).
"""
