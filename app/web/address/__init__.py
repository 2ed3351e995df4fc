"""The URL is the state: one encoder and one decoder for every page.

In: what a page shows, or a query string that anyone may have typed. Out: a link, or the state;
an unreadable part is an ``InputError`` that the page explains. Links carry absolute times.
"""
