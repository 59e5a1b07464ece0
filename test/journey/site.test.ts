import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { beforeAll, expect, it } from 'vitest';
import { root } from '../../src/cli/project/paths.ts';
import { type SharedStack, sharedStack } from '../support/node/journey.ts';

let stack: SharedStack;
beforeAll(async () => {
  stack = await sharedStack();
});

it('a running service serves its docs while others build them', async () => {
  let running = true;
  const failures: string[] = [];
  const reader = (async () => {
    let pages = 0;
    // Often enough to meet each file that is replaced, and not so often that the builds take twice as long.
    for (; running; pages++, await wait(10)) {
      const outcome = await fetch(`${stack.baseUrl}/docs`).then(
        ({ status }) => String(status),
        (error) => `${error}`,
      );
      if (outcome !== '200') failures.push(outcome);
    }
    return pages;
  })();
  await promisify(execFile)(process.execPath, [join(root, 'src/cli/site/build.ts')]);
  running = false;
  expect(await reader).toBeGreaterThan(100);
  expect(failures).toEqual([]);
});
