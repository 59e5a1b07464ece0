import { env } from 'cloudflare:workers';
import { ask } from '#test/support.ts';

const policyOf = async (bindings: Env = env) =>
  (await ask('GET', '/portal/sign-in', { bindings })).headers.get('content-security-policy');

it("pages may call no other host than that of the operator's map style", async () => {
  const policy = await policyOf();
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toMatch(/[*:]\/|\*/);
  const MAP_STYLE_URL = 'https://tiles.example.com/styles/streets.json?key=k';
  const tiles = /(connect-src 'self'|img-src 'self' data:) /g;
  expect(await policyOf({ ...env, MAP_STYLE_URL } as Env)).toBe(
    policy?.replace(tiles, '$1 https://tiles.example.com'),
  );
});
