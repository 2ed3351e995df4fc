"""The file that ``spark-submit`` runs; in a folder of its own, because Spark puts that folder before all others on the path."""
