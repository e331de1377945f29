"""The results of record: docs/results/ and the chart of the README, made from run folders alone.

runs.py reads and checks what was measured, pages.py and chart.py write it down, __main__.py is the command.
"""
