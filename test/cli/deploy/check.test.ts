import { checkService } from '#src/cli/deploy/check.ts';

afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
  process.exitCode = undefined;
});

/** What a check prints of a service whose zone replies like this, by URL and user agent. */
async function printed(zone: { [request: string]: Response } = {}, version = 'v2') {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {});
  vi.stubGlobal('fetch', async (url: string, { headers }: { headers: Record<string, string> }) => {
    if (url.endsWith('/operator/check')) {
      const data = [{ name: 'database', result: 'ok', ms: 7, detail: 'in WEUR' }];
      return Response.json({ status: 200, message: 'OK', data });
    }
    const own = { 'Worker-Version': 'v2', 'cf-placement': 'remote-CDG' };
    const { protocol } = new URL(url);
    const asked = zone[headers['user-agent'] ?? protocol];
    return asked ?? new Response('', { status: protocol === 'http:' ? 403 : 200, headers: own });
  });
  await checkService(
    { baseUrl: 'https://api.example.com', operatorKey: 'k' },
    { entries: ['table accounts: …'], version },
  );
  const [text] = print.mock.calls.map((lines) => lines.join('\n')).slice(0, 1);
  const advice = print.mock.calls.slice(1).join('\n');
  return { text, advice, exitCode: process.exitCode };
}

it('shows the version, its place, plain HTTP and programs', async () => {
  const { text, advice, exitCode } = await printed();
  for (const row of [
    /database +ok +7 ms +in WEUR/,
    /version +ok .* v2, run remote-CDG/,
    /plain HTTP +ok .* gets 403/,
    /programs +ok/,
  ])
    expect(text).toMatch(row);
  expect([advice, exitCode]).toEqual(['', undefined]);
});

it.each([
  [
    'the zone challenges programs',
    {
      'Python-urllib/3.13': new Response('', {
        status: 403,
        headers: { 'cf-mitigated': 'challenge' },
      }),
    },
    /programs +fault .* challenge/,
    'turn off Bot Fight Mode',
  ],
  [
    'the zone refuses programs',
    { 'Python-urllib/3.13': new Response('error code: 1010', { status: 403 }) },
    /programs +fault .* error code: 1010/,
    'Browser Integrity Check',
  ],
  [
    'plain HTTP is served',
    { 'http:': new Response('') },
    /plain HTTP +fault .* gets 200/,
    'Turn on Always Use HTTPS',
  ],
])('fails if %s, and says what to do', async (_, zone, row, remedy) => {
  const { text, advice, exitCode } = await printed(zone);
  expect([text, advice, exitCode]).toEqual([
    expect.stringMatching(row),
    expect.stringContaining(remedy),
    1,
  ]);
});

it('warns of a former version', async () => {
  const { text, exitCode } = await printed({}, 'v3');
  expect([text, exitCode]).toEqual([expect.stringMatching(/version +warning/), undefined]);
});
