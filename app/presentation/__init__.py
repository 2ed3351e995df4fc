"""Facts as tables, figures, blocks of text and links. In: records of models, queries and services. Out: text and Plotly figures; no front end is here."""
