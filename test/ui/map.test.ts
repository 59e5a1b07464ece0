import { env } from 'cloudflare:workers';
import { ask } from '#test/support/portal.ts';

const policyOf = async (bindings?: Env) => {
  const page = await ask('GET', '/portal/sign-in', { ...(bindings && { bindings }) });
  const policy = page.headers.get('content-security-policy') ?? '';
  return Object.fromEntries(
    policy.split(';').map((directive) => {
      const [name = '', ...sources] = directive.trim().split(/\s+/);
      return [name, sources];
    }),
  );
};

it("pages may call no other host than that of the operator's map style", async () => {
  const before = await policyOf();
  const { 'default-src': others, ...sources } = before;
  expect(others).toEqual(["'none'"]);
  expect(new Set(Object.values(sources).flat())).toEqual(new Set(["'self'", "'none'", 'data:']));
  const MAP_STYLE_URL = 'https://tiles.example.com/styles/streets.json?key=k';
  expect(await policyOf({ ...env, MAP_STYLE_URL } as Env)).toEqual({
    ...before,
    'connect-src': ["'self'", 'https://tiles.example.com'],
    'img-src': ["'self'", 'data:', 'https://tiles.example.com'],
  });
});
