"""``spark-submit ... throttlescope_submit.py run --prometheus URL ...``: the command line on a cluster of spark-submit's.

In: the options of spark-submit, and the arguments of ``throttlescope``. Out: as ``throttlescope``.
``throttlescope spark program`` prints where this file is.
"""

if __name__ == "__main__":
    from throttlescope.app.cli import main

    main()
