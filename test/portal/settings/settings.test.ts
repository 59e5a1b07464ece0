import { env } from 'cloudflare:workers';
import {
  ask,
  dayMs,
  newLink,
  type Page,
  personBefore,
  recordId,
  rows,
  safetyEvent,
  signIn,
  vehicle,
  visitor,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeAll);
const ann = personBefore(beforeAll, us);
const { get, post, page, textAt, outcome } = ann;
const press = async (path: string, button: string, typed: Parameters<Page['press']>[1]) =>
  (await page(path)).press(button, typed);

it('a page within a tab has its title on top instead of the tabs, and leads back to its tab', async () => {
  expect((await page('/portal/settings/tokens')).heading).toBe('Settings');
  const within = await page('/portal/settings/tokens/limited');
  expect(within.textAt('.crumbs a, main h1, .tabs-line')).toEqual(['API Tokens', within.heading]);
});

describe('the API Tokens tab', () => {
  const path = '/portal/settings/tokens';

  it('shows a new token’s value, who created each, and until when it works', async () => {
    const typed = { 'Token name': 'Claims', Expires: 'In one year' };
    const shown = await press(path, 'Generate Token', typed);
    const [value = ''] = shown.textAt('#token');
    expect(shown.text).toContain(`x-api-key: ${value}`);
    const later = await page(path);
    expect(later.form().values('Expires')).toEqual(['']);
    for (const who of [ann.email, 'the operator']) expect(later.text).toContain(` by ${who}`);
    const [made] = await rows(`select expires_at from tokens where name = 'Claims'`);
    expect(Math.round((Number(made?.expires_at) - Date.now()) / dayMs)).toBe(365);
    const textWhen = async (days: number) => {
      const times = [Date.now() + days * dayMs, Date.now() - 100 * dayMs];
      const set = 'update tokens set expires_at = ?1, last_used_at = ?2';
      await rows(`${set} where name = 'Claims'`, ...times);
      return textAt(path);
    };
    expect(await textWhen(1.5)).toMatch(/2, one expires soon.*100 days unused In 2 days/);
    expect(await textWhen(-0.1)).toContain('Expired');
  });

  it('asks for connections that a limited token is for', async () => {
    const typed = { 'Token name': 'Limited' };
    const { errors } = await press(`${path}/limited`, 'Generate Token', typed);
    expect(errors).toEqual({ connectionIds: 'Choose 1 to 100.' });
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

  it('chooses a time zone, listed with its offset, which wins over the browser’s until that is chosen again', async () => {
    expect(await foot()).toContain('(New York)');
    const berlin = await press(path, 'Save', { 'Show times in': 'Europe/Berlin' });
    expect(berlin.text).toMatch(/Times are now in Central European .* Time \(Berlin\)\./);
    expect(await foot()).toContain('(Berlin)');
    expect(berlin.form().values('Show times in')).toEqual(['Europe/Berlin']);
    const options = (await fromNewYork.page(path)).textAt('select[name=timeZone] option');
    expect(options.slice(0, 4)).toEqual([
      expect.stringMatching(/^Your browser’s \(America\/New_York, UTC-[45]\)$/),
      expect.stringMatching(/^America\/New_York \(UTC-[45]\)$/),
      expect.stringMatching(/^Europe\/Berlin \(UTC\+[12]\)$/),
      'UTC (UTC+0)',
    ]);
    expect(new Set(options).size).toBe(options.length);
    await berlin.press('Save', { 'Show times in': '' });
    expect(await foot()).toContain('(New York)');
  });

  it('has evidence kept only for a sensible time, and with the agreement of the fleets', async () => {
    const save = async (keep = '', days = '') =>
      (await post(`${path}/evidence`, { keep, days })).status;
    for (const [keep, days] of ['yes 29', 'yes x', 'yes ', ' 90'].map((one) => one.split(' ')))
      expect(await save(keep, days)).toBe(400);
    const days = { 'Keep evidence': 'Yes, the fleets have agreed', 'For how many days': '90' };
    expect((await press(path, 'Save evidence', days)).text).toContain(
      'Evidence is kept for 90 days.',
    );
    expect(await textAt(path)).toContain('Kept for 90 days.');
    const no = { 'Keep evidence': 'No, and delete what is stored' };
    expect((await press(path, 'Save evidence', no)).text).toContain(
      'What was kept is being deleted.',
    );
  });

  it.each([
    ['Sign out', 'You are signed out.'],
    ['Sign out everywhere', 'All of your sessions have ended.'],
  ])('leads by %s to the sign-in page, which says so', async (button, said) => {
    const { page, cookie, email } = await signIn(us);
    const elsewhere = (await ask('POST', await newLink(email))).headers.get('set-cookie') ?? '';
    const left = await (await page(path)).press(button);
    expect(left.path).toBe('/portal/sign-in');
    expect(left.text).toContain(said);
    const status = async (of = '') => (await ask('GET', '/portal', { cookie: of })).status;
    expect(await status(cookie)).toBe(303);
    expect(await status(elsewhere.split(';')[0])).toBe(button === 'Sign out' ? 200 : 303);
  });
});

const path = '/portal/settings/notifications';
const alerts = 'Problems with webhooks and connections';

it('the Notifications tab turns emails off and on again, for oneself alone', async () => {
  const bob = await signIn(us);
  const states = () =>
    Promise.all([ann, bob].map(async (one) => (await one.page(path)).form().values(alerts).length));
  expect(await states()).toEqual([1, 1]);
  const off = await press(path, 'Save', { [alerts]: false });
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
  const truck = recordId(us.connection.id, 'vehicle', 'truck-1');
  expect(await textAt(`/portal/vehicles/${truck}`)).toContain('100,000 mi');
});
