import { env } from 'cloudflare:workers';
import { personalRoutes, portalAccountBefore } from '#test/support/portal-account.ts';
import { ask, overloaded, pageIn, type Sent } from '#test/support.ts';

const ours = portalAccountBefore(beforeAll);
let [webhook, delivery] = ['', ''];
beforeAll(() => {
  webhook = ours.at('/portal/webhooks/:id');
  delivery = ours.at('/portal/webhooks/:id/deliveries/:deliveryId');
});

/** What a person sees of a reply: it must be a whole page, whatever went wrong. */
async function pageOf(method: string, path: string, sent: Sent = {}) {
  const reply = await ask(method, path, { cookie: ours.cookie, ...sent });
  const html = await reply.text();
  expect(reply.headers.get('content-type')).toContain('text/html');
  expect(html).toMatch(/^<!DOCTYPE html>.*<\/html>/is);
  return {
    ...pageIn(html),
    status: reply.status,
    header: (name: string) => reply.headers.get(name),
  };
}

/** The tests' bindings with a D1 that fails altogether, or in transactions alone. */
const withFailing = (which: 'all' | 'transactions') => ({
  ...env,
  DB: {
    prepare: (which === 'all' ? overloaded(env.DB) : env.DB).prepare.bind(env.DB),
    batch: overloaded(env.DB).batch,
  } as unknown as D1Database, // all that the service uses
});

const exceeded = { limit: async () => ({ success: false }) };
const multipart = { 'content-type': 'multipart/form-data; boundary=x' };

describe('a browser gets a page for', () => {
  it('404', async () => {
    const gone = `/portal/webhooks/${crypto.randomUUID()}`;
    for (const path of ['/portal/nowhere', gone, `${delivery}x`])
      expect(await pageOf('GET', path)).toMatchObject({ status: 404, heading: 'Not found' });
  });

  it('405, which says what is allowed', async () => {
    const page = await pageOf('PUT', '/portal/settings/tokens');
    expect(page).toMatchObject({ status: 405, heading: 'Method not allowed' });
    expect(page.header('allow')).toBe('GET, HEAD, POST');
    for (const path of ['/portal', webhook])
      expect((await pageOf('DELETE', path)).header('allow')).toBe('GET, HEAD');
  });

  it.each([
    [400, 'That did not work', { headers: multipart, body: '--x\r\nnonsense' }],
    [413, 'Too large', { fields: { email: 'x'.repeat(270_000) } }],
    [429, 'Too many requests', { bindings: { ...env, LINK_REQUEST_LIMIT: exceeded } }],
  ])('%d: %s', async (status, heading, sent) => {
    const page = await pageOf('POST', '/portal/sign-in', sent);
    expect(page).toMatchObject({ status, heading });
    expect(Number(page.header('retry-after')) > 0).toBe(status === 429);
  });

  it('500, which says nothing but the id under which it is in the log', async () => {
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    const page = await pageOf('GET', webhook, { bindings: { ...env, ENCRYPTION_KEYS: 'broken' } });
    expect(page).toMatchObject({ status: 500, heading: 'Something went wrong' });
    expect(page.text).toContain(page.header('x-request-id'));
    expect(page.text).not.toMatch(/key/i);
    expect(log.mock.calls.join()).toContain(page.header('x-request-id'));
  });

  it.each(['all', 'transactions'] as const)(
    '503, which says when to try again, when D1 is overloaded (%s)',
    async (which) => {
      for (const path of ['/portal/connections', webhook, delivery, `${webhook}/edit`]) {
        const page = await pageOf('GET', path, { bindings: withFailing(which) });
        expect(page).toMatchObject({ status: 503, heading: 'Temporarily unavailable' });
        expect(page.header('retry-after')).toBe('2');
      }
    },
  );

  const forms = personalRoutes
    .filter((route) => /^POST (?!.*(sign-out|\/delete|\/revoke|people\/))/.test(route))
    .map((route) => route.slice(5));

  it.each([
    ['multipart/form-data', '--x--'],
    ['application/x-www-form-urlencoded', 'email=%zz&%=%ff&\ufffe\u0000=\u0000'],
    ['application/octet-stream', '\u0000\u0001'],
  ])('a malformed form, by every route that takes one: %s', async (type, body) => {
    expect(forms.length).toBeGreaterThan(8);
    const log = vi.spyOn(console, 'error').mockImplementation(() => {});
    for (const path of forms) {
      const { status } = await ours.post(
        ours.at(path),
        {},
        { headers: { 'content-type': type }, body },
      );
      expect([200, 303, 400, 404, 429], path).toContain(status);
    }
    expect(log).not.toHaveBeenCalled();
  });
});

it.each([
  ['/', 'text/html,*/*;q=0.8', 303],
  ['/no/such/page', 'text/html,*/*;q=0.8', 404],
  ['/', '*/*', 404],
  ['/no/such/page', 'application/json', 404],
])('%s is a page for browsers alone: %s', async (path, accept, status) => {
  const reply = await ask('GET', path, { headers: { accept } });
  expect(reply.status).toBe(status);
  if (status === 303) return expect(reply.headers.get('location')).toBe('/portal');
  const isPage = accept.startsWith('text/html');
  expect(reply.headers.get('content-type')).toContain(isPage ? 'text/html' : 'application/json');
  expect(reply.headers.has('content-security-policy')).toBe(isPage);
});
