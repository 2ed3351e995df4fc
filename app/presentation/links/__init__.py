"""Links to pages. In: what a page shows. Out: its address; and back, with what is wrong in an address."""
