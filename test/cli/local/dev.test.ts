import { freePort } from '#src/cli/local/dev.ts';

test('a free port is none that systems give to connections', async () => {
  const picked = await Promise.all(Array.from({ length: 100 }, freePort));
  const systemsBeginAt = 32_768; // Linux; others begin later
  expect(Math.max(...picked)).toBeLessThan(systemsBeginAt);
  expect(Math.min(...picked)).toBeGreaterThan(1023);
});
