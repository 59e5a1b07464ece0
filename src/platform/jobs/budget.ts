import { countQueries } from '../db/database.ts';
import { withDatabases } from '../homes/homes.ts';

/**
 * What an invocation may still do: until when it may begin something (milliseconds since 1970), and how many queries of
 * D1 it has left. Workers end what goes on in the background 30 s after its handler has returned, and D1 takes 1,000
 * queries of an invocation, each statement counted: what is begun last must end within what remains of both.
 */
export type Budget = { until: number; queries: number };

/** The budget of an invocation that begins now. */
export const newBudget = ({ ms = 10_000, queries = 800 } = {}): Budget => ({
  until: Date.now() + ms,
  queries,
});

export const isLeft = ({ until, queries }: Budget): boolean => queries > 0 && Date.now() < until;

/** The same bindings, whose queries in this home and in the others are taken from the budget as they are made. */
export const within = (env: Env, budget: Budget): Env =>
  withDatabases(env, (db) =>
    countQueries(db, (queries) => {
      budget.queries -= queries;
    }),
  );

/** The longest rest after a step. */
const longestRestMs = 200;

/**
 * Takes one step after the other until one returns false, as there is nothing left to do, or the budget is used up.
 * After each it rests for as long as it took: half of D1's time is left to others.
 */
export async function inSteps(budget: Budget, step: () => Promise<boolean>): Promise<void> {
  while (isLeft(budget)) {
    const began = Date.now();
    if (!(await step())) return;
    await scheduler.wait(Math.min(Date.now() - began, longestRestMs));
  }
}
