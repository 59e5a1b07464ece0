import { call, maxReplyBytes } from '#src/extras/providers/connector/call.ts';
import { wantedNames } from '#src/extras/providers/connector/pick.ts';

const wanted = wantedNames('data id name next');
const ask = (ms = 1_000) =>
  call({ wanted, until: Date.now() + ms, tooLarge: [] }, { url: 'https://api.example.com' });

it('gives a provider up that does not answer in time, as one that may answer later', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(
    (_, init) =>
      new Promise((_, reject) => {
        init?.signal?.addEventListener('abort', () => reject(init.signal?.reason));
      }),
  );
  await expect(ask(1)).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'does not respond in time',
  });
});

it('leaves no timers behind, of which an invocation may have only so many', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({}));
  const cleared = vi.spyOn(globalThis, 'clearTimeout');
  await ask();
  expect(cleared).toHaveBeenCalledOnce();
});

it('reads no more than 32 MiB', { tags: ['proof'] }, async () => {
  const fetched = vi.spyOn(globalThis, 'fetch');
  fetched.mockImplementation(async () => new Response('{"id": 1}'.padEnd(maxReplyBytes + 1)));
  await expect(ask()).rejects.toMatchObject({
    kind: 'unexpected',
    message: 'returns more than 32 MiB',
  });
  fetched.mockImplementation(async () => new Response('{"id": 1}'.padEnd(maxReplyBytes)));
  await expect(ask()).resolves.toMatchObject({ json: { id: 1 } });
});

it('takes a reply that is no JSON as one that may come later', async () => {
  vi.spyOn(globalThis, 'fetch').mockImplementation(async () => new Response('{"id": '));
  await expect(ask()).rejects.toMatchObject({
    kind: 'unavailable',
    message: 'returns something other than JSON',
  });
});
