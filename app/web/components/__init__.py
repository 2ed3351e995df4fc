"""Components that several pages share. In: values. Out: Dash components and their callbacks."""
