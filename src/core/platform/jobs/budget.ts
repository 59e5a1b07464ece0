import { through } from '../db/through.ts';

/** Until when an invocation may begin something, and how many of its 1,000 D1 queries are left. */
export type Budget = { until: number; queries: number };

/** The budget of an invocation that begins now. */
export const newBudget = ({ ms = 10_000, queries = 800 } = {}): Budget => ({
  until: Date.now() + ms,
  queries,
});

export const isLeft = ({ until, queries }: Budget): boolean => queries > 0 && Date.now() < until;

/** Bindings whose D1 queries are counted against the budget. */
export const within = (env: Env, budget: Budget): Env => ({
  ...env,
  DB: through(env.DB, (run, statements) => {
    budget.queries -= statements.length;
    return run();
  }),
});

const longestPauseMs = 200;

/** Runs steps until one returns false or the budget is used up, and pauses for as long after each. */
export async function inSteps(budget: Budget, step: () => Promise<boolean>): Promise<void> {
  while (isLeft(budget)) {
    const began = Date.now();
    if (!(await step())) return;
    await scheduler.wait(Math.min(Date.now() - began, longestPauseMs));
  }
}
