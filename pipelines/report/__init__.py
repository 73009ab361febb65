"""The report: a static site made from a published snapshot, for people who do not write SQL.

    exhibits.py   the queries of sql/report/, each of which is a table on a page
    pages.py      which page shows which
    scripts.py    rows as script files, since a page that is opened from a file can load nothing else
    site.py       everything together, written in one step

Every number comes from SQL; what a page does with numbers (templates/, static/) is sort, filter and draw.
"""
