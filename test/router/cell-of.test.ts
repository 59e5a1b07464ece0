import fc from 'fast-check';
import { generateToken, type Scope } from '#src/core/accounts/tokens/format.ts';
import { base64url } from '#src/core/platform/crypto.ts';
import { cellOf } from '#src/router/cell-of.ts';

const keys = [{ id: 'k', bytes: new Uint8Array(32) }];
const secret = base64url(crypto.getRandomValues(new Uint8Array(48)));
const request = (path: string, headers: HeadersInit = {}, base = 'https://api.example.com') =>
  new Request(base + path, { headers });

it.each([
  ['/portal/sign-in/link?secret=eu.', 'portal/sign-in', 'eu'],
  ['/portal/sign-in/link?secret=', 'portal/sign-in', 'main'],
  ['/portal/connect?secret=eu.', 'portal/connect', 'eu'],
  ['/portal/connect?provider=samsara&secret=us2.', 'portal/connect', 'us2'],
  ['/portal/connect/withdraw?secret=us2.', 'portal/connect', 'us2'],
  ['/providers/eu.', 'providers', 'eu'],
  ['/providers/', 'providers', 'main'],
  // No form of a cell's name: what follows is for main to refuse.
  ['/portal/connect?secret=EU.', 'portal/connect', 'main'],
  ['/portal/connect?secret=.', 'portal/connect', 'main'],
  ['/portal/connect?secret=averylongnameofacell.', 'portal/connect', 'main'],
])('%s… names the cell by %s: %s', (path, by, cell) => {
  const key = `${path.split(/[/=]/).at(-1)}${secret}`;
  const rests = path.includes('?')
    ? ['', '&secret=us.x', '#/providers/us.x']
    : ['', '/webhook', '?secret=us.x'];
  for (const rest of rests)
    expect(
      cellOf(request(path + secret + rest, { cookie: `__Host-session=us.${secret}` })),
    ).toEqual({ by, key, cell });
});

it.each<[string, string | undefined, string?]>([
  [`__Host-session=eu.${secret}`, 'eu'],
  [`__Host-session=${secret}`, 'main'],
  [`a=1; __Host-session=eu.${secret}; session=us.${secret}`, 'eu'],
  [`session=eu.${secret}`, undefined],
  [`session=eu.${secret}`, 'eu', 'http://localhost:8787'],
  [`__Host-session=us.${secret}`, undefined, 'http://localhost:8787'],
  [`__Host-session=eu.${secret}; __Host-session=us.${secret}`, 'eu'],
  [`__host-session=eu.${secret}`, undefined],
  ['__Host-session=', undefined],
  ['=; ;;__Host-session', undefined],
])('cookies %s name the cell %s', (cookie, cell, base) => {
  const found = cellOf(request('/portal/events?a=b', { cookie, 'x-api-key': 'junk' }, base));
  expect(found?.cell).toBe(cell);
  const state = 'a'.repeat(64);
  const attempt = cookie.replaceAll('session', `sso-${state.slice(0, 16)}`);
  const comesBack = (query: string) =>
    cellOf(request(`/portal/sso/id?code=a${query}`, { cookie: attempt }, base));
  expect(comesBack(`&state=${state}`)?.cell).toBe(cell);
  // Each sign-in has its own.
  for (const query of ['', '&state=', `&state=${'b'.repeat(64)}`])
    expect(comesBack(query)).toBeUndefined();
  // Outside the portal nobody reads them.
  expect(cellOf(request('/portals', { cookie }, base))).toBeUndefined();
});

it.each([
  '/health',
  '/webhooks',
  '/ingest',
  '/',
  '/portal',
  '/portal/sign-in',
  '/portal/sign-in?secret=eu.x',
  '/portal/sign-in/link',
  '/portal/connect?secret=',
  '/portal/connections?secret=eu.x',
  '/providers',
  '/Portal/Sign-In/eu.x',
])('%s alone names no cell', (path) => expect(cellOf(request(path))).toBeUndefined());

const cells = fc.stringMatching(/^[a-z][a-z0-9]{0,15}$/);

it('a credential names the cell that issued it, with space around it or not', async () => {
  const issued = fc.tuple(fc.constantFrom<Scope>('api', 'ingest'), cells);
  await fc.assert(
    fc.asyncProperty(issued, async ([scope, cell]) => {
      const token = await generateToken(scope, keys, cell);
      for (const value of [token, ` ${token} `])
        expect(cellOf(request('/webhooks', { 'x-api-key': value }))).toEqual({
          by: 'token',
          key: token,
          cell,
        });
    }),
  );
});

it('a credential with one character changed is refused by its checksum', async () => {
  const token = await generateToken('api', keys, 'eu');
  const at = fc.integer({ min: 0, max: token.length - 1 });
  const other = fc.constantFrom(...'abcXYZ019_-');
  fc.assert(
    fc.property(at, other, (i, character) => {
      const end = token.slice(i + 1);
      const changed = [token.slice(0, i) + character + end, token.slice(0, i) + end];
      for (const value of [...changed, `${token}, ${token}`].filter((one) => one !== token))
        expect(() => cellOf(request('/ingest', { 'x-api-key': value }))).toThrow('unauthenticated');
    }),
  );
});

it('whatever else is in the header is refused', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme-ascii' }), (value) => {
      expect(() => cellOf(request('/ingest', { 'x-api-key': value }))).toThrow('unauthenticated');
    }),
  );
});
