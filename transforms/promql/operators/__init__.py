"""The operators: a family is a file. In: samples or step matrices. Out: step matrices or scalars per step."""
