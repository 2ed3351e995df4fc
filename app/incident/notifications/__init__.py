"""Messages about backlogs. In: episodes of a lake, and what was sent before. Out: messages to channels: webhook, Slack, DingTalk, WeCom.

``changes`` finds what is new, ``wording`` says it, ``channels`` writes it as a vendor wants it, ``delivery`` sends it, and ``notifier``
does all of that in order and records in the table ``notifications`` what was accepted.
"""
