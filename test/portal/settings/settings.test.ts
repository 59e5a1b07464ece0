import { env } from 'cloudflare:workers';
import { dayMs } from '#src/core/platform/durations.ts';
import { addressIn, ask, personBefore, signIn, visitor } from '#test/support/portal.ts';
import { safetyEvent, vehicle } from '#test/support/records.ts';
import { rows } from '#test/support/rows.ts';
import { operator, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);
const { get, post, page, textAt, outcome } = ann;

it('a page within a tab has its title on top instead of the tabs, and leads back to its tab', async () => {
  const tab = await page('/portal/settings/tokens');
  expect([tab.heading, tab.all('.tabs-line').length]).toEqual(['Settings', 1]);
  const within = await page('/portal/settings/tokens/limited');
  expect(within.textAt('.crumbs a, main h1, .tabs-line')).toEqual(['API Tokens', within.heading]);
});

describe('the API Tokens tab', () => {
  const path = '/portal/settings/tokens';

  it('says what is wrong with a new token once, and keeps what was typed', async () => {
    const refused = await (await page(path)).press('Generate Token', {
      'Token name': 'Claims',
      Expires: '12',
    });
    expect(refused).toMatchObject({
      ...{ status: 400, errors: { expires: 'must be one of the choices' } },
      title: expect.stringMatching(/^Error: API Tokens/),
    });
    expect(refused.all('#expires')[0]?.getAttribute('aria-describedby')).toBe('expires-error');
    expect(refused.form().values('Token name')).toEqual(['Claims']);
  });

  it('shows a new token’s value once, who created each, and until when it works', async () => {
    const typed = { 'Token name': 'Claims', Expires: 'In one year' };
    const shown = await (await page(path)).press('Generate Token', typed);
    const [value = ''] = shown.textAt('#token');
    expect(value).toMatch(/^fds_[\w-]+$/);
    expect(shown.text).toContain(`x-api-key: ${value}`);
    const later = await page(path);
    expect(later.form().values('Expires')).toEqual(['']);
    expect(later.text).not.toContain(value);
    for (const who of [ann.email, 'the operator']) expect(later.text).toContain(` by ${who}`);
    const [made] = await rows(`select expires_at from tokens where name = 'Claims'`);
    expect(Math.round((Number(made?.expires_at) - Date.now()) / dayMs)).toBe(365);
    const textWhen = async (days: number) => {
      const times = [Date.now() + days * dayMs, Date.now() - 100 * dayMs];
      await rows(
        `update tokens set expires_at = ?1, last_used_at = ?2 where name = 'Claims'`,
        ...times,
      );
      return textAt(path);
    };
    const soon = await textWhen(1.5);
    for (const said of ['In 2 days', '2, one expires soon', '100 days unused'])
      expect(soon).toContain(said);
    expect(await textWhen(-0.1)).toContain('Expired');
  });

  it('revokes a token once', async () => {
    const question = `${path}/${us.tokenId}/revoke`;
    expect(await outcome(question)).toContain('Revoked “main”: the API now rejects it.');
    expect((await post(question)).status).toBe(404);
    expect((await get(question)).status).toBe(404);
  });
});

describe('the Account tab', () => {
  const path = '/portal/settings/account';
  const fromNewYork = visitor(() => `${ann.cookie}; timezone=America%2FNew_York`);
  const foot = async () => (await fromNewYork.page(path)).textAt('.foot')[0];

  it('names the account and its id', async () => {
    const text = await textAt(path);
    for (const fact of ['Acme Insurance', us.accountId, ann.email]) expect(text).toContain(fact);
  });

  it('chooses a time zone, which wins over the browser’s until that is chosen again', async () => {
    expect(await foot()).toContain('(New York)');
    const berlin = await (await page(path)).press('Save', { 'Show times in': 'Europe/Berlin' });
    expect(berlin.text).toMatch(/Times are now in Central European .* Time \(Berlin\)\./);
    expect(await foot()).toContain('(Berlin)');
    expect(berlin.form().values('Show times in')).toEqual(['Europe/Berlin']);
    await berlin.press('Save', { 'Show times in': '' });
    expect(await foot()).toContain('(New York)');
    expect((await post(path, { timeZone: 'Europe/Atlantis' })).status).toBe(400);
  });

  it('lists the zones with their offsets, the reader’s own first', async () => {
    await post(path, { timeZone: 'Asia/Tehran' });
    const options = (await fromNewYork.page(path)).textAt('select[name=timeZone] option');
    expect(options.slice(0, 4)).toEqual([
      expect.stringMatching(/^Your browser’s \(America\/New_York, UTC-[45]\)$/),
      expect.stringMatching(/^America\/New_York \(UTC-[45]\)$/),
      'Asia/Tehran (UTC+3:30)',
      'UTC (UTC+0)',
    ]);
    expect(new Set(options).size).toBe(options.length);
    await post(path, { timeZone: '' });
  });

  it('has evidence kept only for a sensible time, and with the agreement of the fleets', async () => {
    const save = async (keep: string, days: string) =>
      (await post(`${path}/evidence`, { keep, days })).status;
    expect([
      await save('yes', '29'),
      await save('yes', 'x'),
      await save('yes', ''),
      await save('', '90'),
    ]).toEqual([400, 400, 400, 400]);
    const days = { 'Keep evidence': 'Yes, the fleets have agreed', 'For how many days': '90' };
    expect((await (await page(path)).press('Save evidence', days)).text).toContain(
      'Evidence is kept for 90 days.',
    );
    expect(await textAt(path)).toContain('Kept for 90 days.');
    const off = await (await page(path)).press('Save evidence', {
      'Keep evidence': 'No, and delete what is stored',
    });
    expect(off.text).toContain('What was kept is being deleted.');
  });

  it.each([
    ['Sign out', 'You are signed out.'],
    ['Sign out everywhere', 'All of your sessions have ended.'],
  ])('leads by %s to the sign-in page, which says so', async (button, said) => {
    const { cookie, email } = await signIn(us);
    const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email });
    const elsewhere = (await ask('POST', addressIn(data.url))).headers.get('set-cookie') ?? '';
    const left = await (await visitor(() => cookie).page(path)).press(button);
    expect(left.path).toBe('/portal/sign-in');
    expect(left.text).toContain(said);
    const status = async (of: string) => (await ask('GET', '/portal', { cookie: of })).status;
    const ended = button === 'Sign out' ? 200 : 303;
    expect([await status(cookie), await status(elsewhere.split(';')[0] ?? '')]).toEqual([
      303,
      ended,
    ]);
  });
});

const path = '/portal/settings/notifications';
const alerts = 'Problems with webhooks and connections';

it('the Notifications tab turns emails off and on again, for oneself alone', async () => {
  const bob = await signIn(us);
  const states = async () =>
    Promise.all(
      [page(path), bob.page(path)].map(async (one) => (await one).form().values(alerts).length),
    );
  expect(await states()).toEqual([1, 1]);
  const off = await (await page(path)).press('Save', { [alerts]: false });
  expect(off.text).toContain(`We email ${ann.email} as chosen.`);
  expect(await states()).toEqual([0, 1]);
  await off.press('Save', { [alerts]: true });
  expect(await states()).toEqual([1, 1]);
});

it('the Notifications tab says so where the deployment sends no email', async () => {
  const bindings = { ...env, EMAIL_FROM: undefined } as unknown as Env; // as deployed without
  const reply = await ask('GET', path, { cookie: ann.cookie, bindings });
  expect(await reply.text()).toContain('This deployment sends no email.');
});

it('the account chooses kilometers or miles, for all of its people', async () => {
  await us.send(
    vehicle({ odometerKm: 160_934.4 }),
    safetyEvent({ startedAt: new Date().toISOString(), maxSpeedKph: 98, speedLimitKph: 88 }),
  );
  expect(await textAt('/portal/events')).toContain('98 km/h, limit 88');
  expect(await outcome('/portal/settings/account/units', { units: 'imperial' })).toContain('miles');
  expect(await textAt('/portal/events')).toContain('61 mph, limit 55');
  const [truck] = await rows('select id from vehicles where account_id = ?', us.accountId);
  expect(await textAt(`/portal/vehicles/${truck?.id}`)).toContain('100,000 mi');
});
