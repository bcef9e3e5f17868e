"""Marks that other work on the test machine, or a phase that is short for the test's sake, may cause."""

# Each is true when it appears, so a clean run may have it.
ABOUT_THE_MACHINE = {"too_short", "cpu_bound", "skewed_start", "start_late", "begun_before", "stalled", "data_time"}
