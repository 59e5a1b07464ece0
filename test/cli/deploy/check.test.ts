import { checkService } from '#src/cli/deploy/check.ts';
import { runHere } from '#test/support/node/index.ts';

/** What a check prints of a service whose zone replies like this, by URL and user agent. */
function printed(zone: { [request: string]: Response } = {}, version = 'v2') {
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
  const service = { baseUrl: 'https://api.example.com', operatorKey: 'k' };
  return runHere(() => checkService(service, { entries: ['table accounts: …'], version }));
}

it('shows the version, its place, plain HTTP and programs', async () => {
  const { code, out } = await printed();
  for (const row of [
    /database +ok +7 ms +in WEUR/,
    /version +ok .* v2, run remote-CDG/,
    /plain HTTP +ok .* gets 403/,
    /programs +ok/,
  ])
    expect(out).toMatch(row);
  expect(out).not.toMatch(/^!/m);
  expect(code).toBe(0);
});

const python = 'Python-urllib/3.13';
const challenge = new Response('', { status: 403, headers: { 'cf-mitigated': 'challenge' } });
const refusal = new Response('error code: 1010', { status: 403 });
it.each([
  [
    'the zone challenges programs',
    { [python]: challenge },
    /programs +fault .* challenge/,
    'turn off Bot Fight',
  ],
  [
    'the zone refuses programs',
    { [python]: refusal },
    /programs +fault .* 1010/,
    'Browser Integrity',
  ],
  [
    'plain HTTP is served',
    { 'http:': new Response('') },
    /plain HTTP +fault .* 200/,
    'Always Use HTTPS',
  ],
])('fails if %s, and says what to do', async (_, zone, row, remedy) => {
  const { code, out } = await printed(zone);
  expect(out).toMatch(row);
  expect(out).toContain(remedy);
  expect(code).toBe(1);
});

it('warns of a former version', async () => {
  const { code, out } = await printed({}, 'v3');
  expect([code, out]).toEqual([0, expect.stringMatching(/version +warning/)]);
});
