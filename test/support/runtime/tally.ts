import type { Reporter, TestCase, TestModule } from 'vitest/node';

const { npm_lifecycle_event: script } = process.env;

/** Ends the run with one plain line that any log reader understands. */
export default class Tally implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], errors: readonly unknown[]) {
    const count = { passed: 0, failed: errors.length, skipped: 0, pending: 0 };
    for (const module of modules)
      for (const test of module.children.allTests())
        if (isAskedFor(test)) count[test.result().state] += 1;
    const skipped = count.skipped ? `, ${count.skipped} skipped` : '';
    process.stdout.write(`\n${count.passed} passed, ${count.failed} failed${skipped}\n`);
  }
}

/** Whether a test is of those that are run; Vitest says of the others that they were skipped. */
const isAskedFor = ({ tags }: TestCase): boolean =>
  script === 'test' ? !tags.includes('proof') : script !== 'proof' || tags.includes('proof');
