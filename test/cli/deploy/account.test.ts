import { afterEach, expect, it, vi } from 'vitest';
import { chooseAccount, originOf } from '../../../src/cli/deploy/account.ts';
import type { Api } from '../../../src/cli/deploy/api.ts';
import { planOf } from '../../../src/cli/deploy/plan.ts';

const [acme, other] = ['a', 'b'].map((letter) => ({ id: letter.repeat(32), name: `Account ${letter}` }));
const signedInTo =
  (...accounts: object[]) =>
  async () => ({ ok: true, out: JSON.stringify({ loggedIn: true, accounts }), text: '' });

afterEach(() => vi.unstubAllEnvs());

it('a deploy does not choose among several accounts', async () => {
  vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', '');
  expect(await chooseAccount(signedInTo({ ...acme }))).toEqual(acme);
  const several = chooseAccount(signedInTo({ ...acme }, { ...other }));
  await expect(several).rejects.toThrow('Set CLOUDFLARE_ACCOUNT_ID');
  await expect(several).rejects.toThrow(`${acme?.id}  Account a\n  ${other?.id}  Account b`);
  vi.stubEnv('CLOUDFLARE_ACCOUNT_ID', other?.id);
  expect(await chooseAccount(signedInTo({ ...acme }, { ...other }))).toEqual(other);
});

it('an account without a workers.dev address learns how to get one, unless there is a domain', async () => {
  const api: Api = async () => ({ ok: false, result: undefined, reason: '', codes: [10_007] });
  const origin = (options: object) => originOf(api, 'a1', planOf(options));
  await expect(origin({})).rejects.toThrow('cloudflare.com/a1/workers/onboarding');
  expect(await origin({ domain: 'api.example.com' })).toBe('https://api.example.com');
});
