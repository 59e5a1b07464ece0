import { unavailable } from '../errors.ts';

/** D1's own messages, which its errors begin with: what follows may be a customer's words. */
const saying = (...messages: string[]) =>
  new RegExp(`^(?:\\w*Error: )*(?:${messages.join('|')})`, 'i');

/** D1 never ran the statement: safe to retry. */
const notRun = saying('D1 DB is overloaded', 'Cannot resolve D1 DB due to transient issue');

/** D1 may have run the statement: only repeatable work may be retried. */
const unknownOutcome = saying(
  'Network connection lost',
  '(?:Internal error (?:in|while starting up) D1 DB )?storage caused object to be reset',
  'D1 DB reset because its code was updated',
  'D1 DB storage operation exceeded timeout',
  "Can't read from request stream",
);

/** It used up D1's memory or CPU time, for everyone: it must not run again. */
const exhausted = saying(
  "D1 DB(?:'s isolate)? exceeded its (?:memory|CPU time) limit and was reset",
);

/** The database is full: nothing was written, and only operators can change that. */
const full = saying('Exceeded maximum DB size', 'database or disk is full');

const retryDelaysMs = [50, 200];

/**
 * Retries transient failures of D1 at most twice, if the work is `repeatable`: running it twice has the effect of once.
 * @throws Refusal: unavailable, for a transient failure or a full database; otherwise what D1 throws
 */
export async function withRetries<T>(work: () => Promise<T>, repeatable: boolean): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (error) {
      const reason = d1Reason(error);
      const retry = notRun.test(reason) || (repeatable && unknownOutcome.test(reason));
      const delayMs = retryDelaysMs[tries];
      if (full.test(reason)) throw unavailable(error, 60);
      if (!retry || delayMs === undefined)
        throw isTransient(reason) ? unavailable(error, 2) : error;
      await scheduler.wait(delayMs * (0.5 + Math.random()));
    }
  }
}

const isTransient = (reason: string): boolean =>
  notRun.test(reason) || unknownOutcome.test(reason) || exhausted.test(reason);

/** D1's message; empty for what is no error. */
export const d1Reason = (error: unknown): string => (error instanceof Error ? error.message : '');
