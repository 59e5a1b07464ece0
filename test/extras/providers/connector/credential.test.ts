import { readCredential } from '#src/extras/providers/connector/credential.ts';
import { connectorOf } from '#src/extras/providers/registry.ts';

function read(provider: string, parts: string | object) {
  const connector = connectorOf(provider);
  if (!connector) throw new Error(`no ${provider}`);
  return readCredential(
    connector,
    typeof parts === 'string' ? parts : JSON.stringify(parts),
    false,
  );
}
const login = { database: 'acme', user: 'u', password: 'p' };
const keys = { secretKey: 'sk_1', connectionToken: 'con_1' };

it.each([
  ['the same', 'geotab', login, { password: 'other' }],
  ['the same', 'geotab', login, { server: 'https://MY.geotab.com/' }],
  ['the same', 'geotab', login, { database: 'Acme', user: 'U' }],
  ['another', 'geotab', login, { database: 'other' }],
  ['the same', 'terminal', keys, { secretKey: 'sk_2' }],
  ['another', 'terminal', keys, { connectionToken: 'con_2' }],
  ['another', 'terminal', keys, { connectionToken: 'Con_1' }],
])('it is %s one of %s: %o, with %o', (which, provider, parts, more) => {
  const [one, other] = [parts, { ...parts, ...more }].map((all) => read(provider, all).identity);
  expect(one === other ? 'the same' : 'another').toBe(which);
});

it.each([
  ['samsara', 'a b c d e f', 'must be one word of 8 to 500 characters, as Samsara shows it'],
  ['geotab', 'secret', 'must be JSON'],
  ['geotab', { Server: 'a' }, 'one of its names is not a part here, did you mean server?'],
  ['geotab', { ...login, user: '\u0007' }, 'user must have 1 to 500 characters'],
  ['geotab', { ...login, server: 'geotab.com.evil.com' }, 'must be a host of geotab.com'],
])('it is none of %s: %j', (provider, parts, message) => {
  expect(() => read(provider, parts)).toThrow(message);
});
