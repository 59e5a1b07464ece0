import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, formOn, signIn } from '../support/portal.ts';
import { type World, world } from '../support/world.ts';

let us: World;
let ann: Awaited<ReturnType<typeof signIn>>;
beforeAll(async () => {
  us = await world();
  ann = await signIn(us);
});

const html = async (path: string) => (await ask('GET', path, { cookie: ann.cookie })).text();
const send = (path: string, fields: Record<string, string> = {}) =>
  ask('POST', path, { cookie: ann.cookie, fields });

/** The links of a navigation with this label, by their names, with which of them is current. */
async function linksOf(path: string, label: string) {
  const nav = new RegExp(`<nav aria-label="${label}">(.*?)</nav>`).exec(await html(path))?.[1] ?? '';
  return [...nav.matchAll(/<a href="(.*?)"(?: aria-current="(\w+)")?>(.*?)<\/a>/g)].map(
    ([, href, current, name]) => ({ name, href, ...(current && { current }) }),
  );
}

describe('settings', () => {
  it('are in the menu, and have the tabs API Tokens (spec 5.3), People, Notifications and Audit log', async () => {
    const settings = { name: 'Settings', href: '/portal/settings' };
    expect(await linksOf('/portal', 'Main')).toContainEqual(settings);
    expect((await ask('GET', settings.href, { cookie: ann.cookie })).headers.get('location')).toBe(
      '/portal/settings/tokens',
    );
    expect(await linksOf('/portal/settings/tokens', 'Main')).toContainEqual({ ...settings, current: 'true' });
    expect(await linksOf('/portal/settings/people', 'Settings')).toEqual([
      { name: 'API Tokens', href: '/portal/settings/tokens' },
      { name: 'People', href: '/portal/settings/people', current: 'page' },
      { name: 'Notifications', href: '/portal/settings/notifications' },
      { name: 'Audit log', href: '/portal/settings/audit' },
    ]);
    const revoke = `/portal/settings/tokens/${us.tokenId}/revoke`;
    expect((await linksOf(revoke, 'Settings'))[0]).toMatchObject({ name: 'API Tokens', current: 'true' });
    expect(await linksOf('/portal/webhooks', 'Settings')).toEqual([]);
  });
});

describe('the API Tokens tab', () => {
  it('shows API tokens however many ingest keys there are', async () => {
    await env.DB.prepare(
      `insert into tokens (id, account_id, connection_id, scope, name, hash, last_four, created_at)
       with recursive n (i) as (select 1 union all select i + 1 from n where i < 1001)
       select 'key-' || i, ?1, ?3, 'ingest', 'connector', 'hash-' || i, 'abcd', ?2 + i from n`,
    )
      .bind(us.accountId, Date.now(), us.connection.id)
      .run();
    expect(await html('/portal/settings/tokens')).toContain(`/portal/settings/tokens/${us.tokenId}/revoke`);
  });

  it('says what is wrong with a new token, and keeps what was typed', async () => {
    const reply = await send('/portal/settings/tokens', { name: 'Claims', expires: '2020-01-01' });
    expect(reply.status).toBe(400);
    const text = await reply.text();
    expect(text).toContain('must be a day in the future');
    expect(text).toContain('value="Claims"');
  });

  it('revokes a token once', async () => {
    const path = `/portal/settings/tokens/${us.tokenId}/revoke`;
    expect((await send(path)).status).toBe(303);
    expect((await send(path)).status).toBe(404);
    expect((await ask('GET', path, { cookie: ann.cookie })).status).toBe(404);
  });
});

describe('the People tab', () => {
  it('removes anybody but oneself', async () => {
    const bob = await signIn(us);
    const { results } = await env.DB.prepare('select id, email from portal_users where account_id = ?1')
      .bind(us.accountId)
      .all<{ id: string; email: string }>();
    const path = (email: string) =>
      `/portal/settings/people/${results.find((person) => person.email === email)?.id}/remove`;
    expect((await send(path(ann.email))).status).toBe(404);
    expect((await send(path(bob.email))).status).toBe(303);
    expect((await ask('GET', '/portal', { cookie: bob.cookie })).status).toBe(303);
  });
});

describe('the Notifications tab', () => {
  const path = '/portal/settings/notifications';
  const isOn = async (cookie: string) =>
    (await formOn(await ask('GET', path, { cookie }))).checked('alerts').length === 1;

  it('turns emails about webhooks off and on again, for oneself alone', async () => {
    const bob = await signIn(us);
    expect([await isOn(ann.cookie), await isOn(bob.cookie)]).toEqual([true, true]);
    expect((await send(path)).headers.get('location')).toBe(path); // as a browser sends an empty checkbox
    expect([await isOn(ann.cookie), await isOn(bob.cookie)]).toEqual([false, true]);
    expect(await html(path)).toContain(`We do not email ${ann.email} about webhooks.`);
    await send(path, { alerts: 'yes' });
    expect([await isOn(ann.cookie), await isOn(bob.cookie)]).toEqual([true, true]);
    expect(await html(path)).toContain(`We email ${ann.email} when something is wrong`);
  });

  it('can change nothing of another person, whatever is sent', async () => {
    const bob = await signIn(us);
    const { results } = await env.DB.prepare('select id from portal_users where email = ?1')
      .bind(bob.email)
      .all<{ id: string }>();
    await send(path, { id: results[0]?.id ?? '', userId: results[0]?.id ?? '', email: bob.email });
    expect(await isOn(bob.cookie)).toBe(true);
    await send(path, { alerts: 'yes' });
  });

  it('says so where the deployment sends no email', async () => {
    const bindings = { ...env, EMAIL_FROM: undefined } as unknown as Env; // as deployed without
    const page = await ask('GET', path, { cookie: ann.cookie, bindings });
    expect(await page.text()).toContain('This deployment sends no email at all.');
  });
});
