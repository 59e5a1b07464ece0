import { expect, it, vi } from 'vitest';
import { call, maxReplyBytes, maxValues } from '../../src/providers/call.ts';

it('gives a provider up that does not answer in time, as one that may answer later', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(
    (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  );
  await expect(call({ url: 'https://api.example.com', until: Date.now() + 1 })).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'does not respond in time',
  });
});

it('leaves no timers behind, of which an invocation may have only so many', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({}));
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  await call({ url: 'https://api.example.com', until: Date.now() + 1_000 });
  expect(cleared).toHaveBeenCalledOnce();
});

it.each([
  ['2 MiB', maxReplyBytes + 1, 0],
  ['100,000 values', 0, maxValues + 1],
])('reads no more than %s', async (bound, size, values) => {
  const text = (bytes: number, count: number) => JSON.stringify(Array(count).fill(1)).padEnd(bytes);
  const fetched = vi
    .spyOn(globalThis, 'fetch')
    .mockImplementation(async () => new Response(text(size, values)));
  const called = () => call({ url: 'https://api.example.com', until: Date.now() + 1_000 });
  await expect(called()).rejects.toMatchObject({ kind: 'unexpected', message: `returns more than ${bound}` });
  fetched.mockImplementation(async () => new Response(text(maxReplyBytes, maxValues - 10)));
  await expect(called()).resolves.toBeDefined();
});
