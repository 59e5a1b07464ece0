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

it('the address is below workers.dev, unless there is a domain', async () => {
  const api: Api = async () => ({ ok: true, result: { subdomain: 'acme' }, reason: '', codes: [] });
  expect(await originOf(api, planOf({}))).toBe('https://fleet-data-service.acme.workers.dev');
  expect(await originOf(api, planOf({ domain: 'api.example.com' }))).toBe('https://api.example.com');
  await expect(originOf(api, planOf({ cell: 'eu' }))).rejects.toThrow("pass the router's host as --domain");
});
