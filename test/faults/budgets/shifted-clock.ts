/** Loaded before a service: sets its wall clock forward by `CLOCK_AHEAD_MS`, so that a period ends in the middle of a run. */
const { now } = Date;
const ahead = Number(process.env['CLOCK_AHEAD_MS']);
Date.now = () => now() + ahead;
