import { env } from 'cloudflare:workers';
import { beforeAll, describe, expect, it } from 'vitest';
import { ask, follow, formOn, pageAfter, signIn, visitor } from '../../support/portal.ts';
import { safetyEvent, vehicle } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { as, operator, worldBefore } from '../../support/world.ts';

const us = worldBefore(beforeAll);
let ann: Awaited<ReturnType<typeof signIn>>;
beforeAll(async () => {
  ann = await signIn(us);
});

const { get, html, post: send, outcome } = visitor(() => ann.cookie);

describe('the API Tokens tab', () => {
  it('says what is wrong with a new token once, under its field, and keeps what was typed', async () => {
    const reply = await send('/portal/settings/tokens', { name: 'Claims', expires: '12' });
    expect(reply.status).toBe(400);
    const text = await reply.text();
    expect(text.match(/must be one of the choices/g)).toHaveLength(1);
    expect(text).toContain('aria-describedby="expires-error"');
    expect(text).toContain('value="Claims"');
    expect(text).toContain('<title>Error: API Tokens');
  });

  it('shows a new token’s value once, with who created each, and until when each works', async () => {
    const dayMs = 86_400_000;
    const reply = await send('/portal/settings/tokens', { name: 'Claims', expires: '365' });
    const shown = await (await pageAfter(reply, ann.cookie)).text();
    const value = /id="token"[^>]*>(fds_[\w-]+)</.exec(shown)?.[1] ?? '';
    expect(shown).toContain(`x-api-key: ${value}`);
    const page = await html('/portal/settings/tokens');
    expect(page).toMatch(/<option value="" selected[^>]*>Never</);
    expect(page).not.toContain(value);
    expect(page).toContain(` by ${ann.email}`);
    expect(page).toContain(' by the operator');
    const set = (expiresAt: number) =>
      rows(
        `update tokens set expires_at = ?1, last_used_at = ?2 where name = 'Claims'`,
        expiresAt,
        Date.now() - 100 * dayMs,
      );
    const [made] = await rows(`select expires_at from tokens where name = 'Claims'`);
    expect(Math.round((Number(made?.expires_at) - Date.now()) / dayMs)).toBe(365);
    await set(Date.now() + 1.5 * dayMs);
    const later = await html('/portal/settings/tokens');
    expect(later).toContain('In 2 days');
    expect(later).toContain('2, one expires soon');
    expect(later).toContain('100 days unused');
    await set(Date.now() - 1);
    expect(await html('/portal/settings/tokens')).toContain('Expired');
  });

  it('revokes a token once', async () => {
    const path = `/portal/settings/tokens/${us.tokenId}/revoke`;
    expect(await outcome(path)).toContain('Revoked “main”: the API now rejects it.');
    expect((await send(path)).status).toBe(404);
    expect((await get(path)).status).toBe(404);
  });
});

it('the People tab invites somebody, changes their role, and removes them', async () => {
  const people = '/portal/settings/people';
  const invited = await outcome(people, { email: 'dora@example.com', role: 'viewer' });
  expect(invited).toContain('Invited dora@example.com as a viewer. The link works for 15 minutes');
  const bob = await signIn(us);
  const [{ id } = { id: '' }] = await rows('select id from portal_users where email = ?1', bob.email);
  const given = await outcome(`${people}/${id}/role`, { role: 'member' });
  expect(given).toContain(`${bob.email} is now a member.`);
  const removed = await outcome(`${people}/${id}/remove`);
  expect(removed).toContain(
    `Removed ${bob.email}. They are signed out everywhere and can no longer sign in.`,
  );
  const reply = await ask('GET', '/portal', { cookie: bob.cookie });
  expect(reply.headers.get('location')).toBe('/portal/sign-in');
});

describe('the Account tab', () => {
  const path = '/portal/settings/account';
  const fromNewYork = visitor(() => `${ann.cookie}; timezone=America%2FNew_York`);
  const foot = async () => /<p class="foot">(.*?)</.exec(await fromNewYork.html(path))?.[1];

  it('names the account and its id', async () => {
    const page = await html(path);
    for (const fact of ['Acme Insurance', us.accountId, ann.email]) expect(page).toContain(fact);
  });

  it('chooses a time zone, which wins over the browser’s until that is chosen again', async () => {
    expect(await foot()).toContain('(New York)');
    const said = await outcome(path, { timeZone: 'Europe/Berlin' });
    expect(said).toMatch(/Times are now in Central European .* Time \(Berlin\)\./);
    expect(await foot()).toContain('(Berlin)');
    expect((await formOn(await get(path))).values('timeZone')).toEqual(['Europe/Berlin']);
    await send(path, { timeZone: '' });
    expect(await foot()).toContain('(New York)');
    expect((await send(path, { timeZone: 'Europe/Atlantis' })).status).toBe(400);
  });

  it.each([
    ['sign-out', 'You are signed out.'],
    ['sign-out-everywhere', 'All of your sessions have ended.'],
  ])('leads by %s to the sign-in page, which says so', async (action, said) => {
    const { cookie, email } = await signIn(us);
    const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
    const elsewhere = (await ask('POST', new URL(data.url).pathname)).headers.get('set-cookie') ?? '';
    const reply = await ask('POST', `/portal/${action}`, { cookie });
    expect(reply.headers.get('location')).toBe('/portal/sign-in');
    expect(await follow(reply, cookie)).toContain(said);
    const status = async (of: string) => (await ask('GET', '/portal', { cookie: of })).status;
    const ended = action === 'sign-out' ? 200 : 303;
    expect([await status(cookie), await status(elsewhere.split(';')[0] ?? '')]).toEqual([303, ended]);
  });
});

describe('the Notifications tab', () => {
  const path = '/portal/settings/notifications';
  const isOn = async (cookie: string) =>
    (await formOn(await ask('GET', path, { cookie }))).checked('alerts').length === 1;

  it('turns emails about webhooks off and on again, for oneself alone', async () => {
    const bob = await signIn(us);
    expect([await isOn(ann.cookie), await isOn(bob.cookie)]).toEqual([true, true]);
    const off = await outcome(path); // as a browser sends an empty checkbox
    expect(off).toContain(`We email ${ann.email} as chosen.`);
    expect([await isOn(ann.cookie), await isOn(bob.cookie)]).toEqual([false, true]);
    await send(path, { alerts: 'yes' });
    expect([await isOn(ann.cookie), await isOn(bob.cookie)]).toEqual([true, true]);
  });

  it('says so where the deployment sends no email', async () => {
    const bindings = { ...env, EMAIL_FROM: undefined } as unknown as Env; // as deployed without
    const page = await ask('GET', path, { cookie: ann.cookie, bindings });
    expect(await page.text()).toContain('This deployment sends no email.');
  });
});

it('the account chooses kilometers or miles, for all of its people', async () => {
  await as(us.connection.ingestKey).send(
    vehicle({ odometerKm: 160_934.4 }),
    safetyEvent({ startedAt: new Date().toISOString(), maxSpeedKph: 98, speedLimitKph: 88 }),
  );
  expect(await html('/portal/events')).toContain('98 km/h, limit 88');
  expect(await outcome('/portal/settings/account/units', { units: 'imperial' })).toContain('miles');
  expect(await html('/portal/events')).toContain('61 mph, limit 55');
  const [truck] = await rows('select id from vehicles where account_id = ?', us.accountId);
  expect(await html(`/portal/vehicles/${truck?.id}`)).toContain('100,000 mi');
});
