"""The joins that make signals, and PromQL on Spark. In: tables of the lake. Out: `limits` and `signals`."""
