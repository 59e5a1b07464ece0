/**
 * The cost of a safety event that is sent alone, goes to one webhook and arrives at the first attempt.
 * `test/operations.test.ts` checks the rows and `test/docs/costs.test.ts` the bytes; `cpuMs` is an assumption.
 */
export const perEvent = {
  rowsRead: 59,
  rowsWritten: 7,
  /** Including deletion: D1 bills it as a row written. */
  rowsWrittenInLife: 10,
  requests: 1,
  logLines: 2,
  points: 1,
  cpuMs: 5,
  /** In D1, with indexes: the event, and its notification and delivery. */
  bytesStored: 870,
  bytesDelivered: 770,
};
