/**
 * The cost of a safety event that is sent alone, goes to one webhook and arrives at the first attempt.
 * `test/operations` checks the rows and `test/docs/costs.test.ts` the bytes in D1; `cpuMs` and `logBytes` are assumptions.
 */
export const perEvent = {
  rowsRead: 71,
  rowsWritten: 9,
  /** Including deletion: D1 bills it as a row written. */
  rowsWrittenInLife: 12,
  requests: 1,
  /** Of the queue. */
  messages: 1,
  /** Two lines, with what Cloudflare adds to each. */
  logBytes: 3000,
  points: 1,
  cpuMs: 5,
  /** In D1, with indexes: the event and its part of a change, and its delivery. */
  bytesStored: 770,
  bytesDelivered: 230,
};

/** The cost of a trip that is pulled with others, a hundred at a time; the same tests check it. */
export const perTrip = {
  rowsRead: 11,
  /** Including deletion. */
  rowsWrittenInLife: 6,
  cpuMs: 0.2,
  /** In D1, with indexes. */
  bytesStored: 730,
};

/** An assumption, for tables by number of vehicles. */
export const perVehicleAndDay = { events: 2, trips: 6 };
