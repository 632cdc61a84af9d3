#!/usr/bin/env python3
"""Paired runs of two commands, with the ratio of their times and the peak of their anonymous memory (Linux).

    benches/paired.py RUNS 'COMMAND A' 'COMMAND B'

Order alternates within the pairs; one pair before them warms the page cache and does not count. Prints the median of
A's and B's times, the median of the ratios A/B, and the largest RssAnon seen of each, sampled every millisecond.
"""

import shlex
import statistics
import subprocess
import sys
import time


def run(command):
    start = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    child.wait()
    return time.perf_counter() - start


def memory(command):
    """Sampling disturbs the time, so it has runs of its own."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    peak = 0
    while child.poll() is None:
        try:
            with open(f"/proc/{child.pid}/status") as status:
                for line in status:
                    if line.startswith("RssAnon:"):
                        peak = max(peak, int(line.split()[1]))
        except OSError:
            pass
        time.sleep(0.001)
    return peak


def main():
    runs, commands = int(sys.argv[1]), [shlex.split(text) for text in sys.argv[2:4]]
    times, ratios = ([], []), []
    for pair in range(runs + 1):
        order = (0, 1) if pair % 2 == 0 else (1, 0)
        taken = {which: run(commands[which]) for which in order}
        if pair:
            times[0].append(taken[0])
            times[1].append(taken[1])
            ratios.append(taken[0] / taken[1])
    for which, name in enumerate("AB"):
        peak = max(memory(commands[which]) for _ in range(3)) / 1000
        print(f"{name}: median {statistics.median(times[which]):.4f} s, fastest {min(times[which]):.4f} s, "
              f"RssAnon {peak:.1f} MB: {' '.join(commands[which])}")
    print(f"A/B: median {statistics.median(ratios):.4f}, that is 1/{1 / statistics.median(ratios):.0f}, over {runs} pairs")


if __name__ == "__main__":
    main()
