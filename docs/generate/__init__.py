"""Pages that are made from code. In: contracts, help, rules, simulated runs, recordings. Out: Markdown files of ``docs/``.

``python -m docs.generate [NAME...]`` writes all of them, or those that are named. A generator is a module with ``PAGE``, the file that it
writes, and ``render(page)``, which returns the new text for the present one. :mod:`docs.generate.generators` lists them.
"""
