import { waitForHealth } from '#src/cli/deploy/health.ts';

const url = 'https://api.example.com';
const own = { 'X-Request-Id': 'r' };

/** Has requests get these replies, each with its headers. */
function replying(...replies: [headers: HeadersInit, status?: number][]) {
  vi.stubGlobal('fetch', async () => {
    const [headers, status = 200] = replies.shift() ?? [{}];
    return Response.json({ message: 'Deliveries are late' }, { headers, status });
  });
  return replies;
}

it('a router is healthy once it responds itself, and knows all cells', async () => {
  const of = (cells: string): [HeadersInit] => [{ ...own, 'Fleet-Cell': cells }];
  const left = replying([own], of('main'), of('eu, main'));
  expect(await waitForHealth(url, { cells: ['main', 'eu'] }, 0)).toBeUndefined();
  expect(left).toEqual([]);
});

it('a service is well once its new version says so, and nothing else', async () => {
  const of = (version: string, status: number): [HeadersInit, number] => [
    { ...own, 'Worker-Version': version },
    status,
  ];
  const left = replying([{}, 530], of('old', 200), of('new', 503));
  expect(await waitForHealth(url, { version: 'new' }, 0)).toBe('503 Deliveries are late');
  expect(left).toEqual([]);
});

it('a challenge is named at once', async () => {
  replying([{ 'cf-mitigated': 'challenge' }, 403]);
  await expect(waitForHealth(url)).rejects.toThrow(
    'prove that they are people. Turn off Bot Fight Mode',
  );
});
