import { through } from '../db/through.ts';

/**
 * What an invocation may still do: until when it may begin something (milliseconds since 1970), and how many D1 queries
 * it has left. Workers ends background work 30 s after the handler has returned, and D1 allows 1,000 queries per
 * invocation, so what begins last must fit into the remainder of both.
 */
export type Budget = { until: number; queries: number };

/** The budget of an invocation that begins now. */
export const newBudget = ({ ms = 10_000, queries = 800 } = {}): Budget => ({
  until: Date.now() + ms,
  queries,
});

export const isLeft = ({ until, queries }: Budget): boolean => queries > 0 && Date.now() < until;

/** The same bindings; queries are taken from the budget. */
export const within = (env: Env, budget: Budget): Env => ({
  ...env,
  DB: through(env.DB, (run, statements) => {
    budget.queries -= statements.length;
    return run();
  }),
});

const longestPauseMs = 200;

/**
 * Runs steps until one returns false, because nothing is left to do, or the budget is used up. Pauses after each for as
 * long as it took: half of D1's time is left to others.
 */
export async function inSteps(budget: Budget, step: () => Promise<boolean>): Promise<void> {
  while (isLeft(budget)) {
    const began = Date.now();
    if (!(await step())) return;
    await scheduler.wait(Math.min(Date.now() - began, longestPauseMs));
  }
}
