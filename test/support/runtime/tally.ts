import type { Reporter, TestModule } from 'vitest/node';

/** Ends the run with one plain line that any log reader understands. */
export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules)
      for (const test of module.children.allTests()) count[test.result().state] += 1;
    const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  }
}
