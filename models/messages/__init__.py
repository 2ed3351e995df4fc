"""Text about verdicts, evidence, advice, forecasts, limits and units. In: findings and values. Out: text.

A leaf: nothing of ours is imported here, so every layer and every task on Spark may use it.
"""
