import { env } from 'cloudflare:workers';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { saveChannel } from '#src/extras/alerts/channels.ts';
import { setMailRule } from '#src/extras/alerts/rules.ts';
import { selectUncovered } from '#src/portal/read/read-overview.ts';
import { signIn, visitor } from '#test/support/portal.ts';
import { accident, vehicle } from '#test/support/records.ts';
import { addRows, rows, value } from '#test/support/rows.ts';
import { metered } from '#test/support/runtime/meter.ts';
import { story } from '#test/support/story.ts';
import { addConnection, operator, world } from '#test/support/world.ts';

const { us, send, register } = story();
const caller = () => ({ accountId: us.accountId, operator: true }) as const;

const connect = () => addConnection(us.accountId, { name: 'Vans' });
const all = (changes: object = {}) =>
  register({ connectionIds: undefined, ...changes, allConnections: true });

describe('a connection whose accidents nobody is notified of', () => {
  const portal = visitor(() => cookie);
  let cookie: string;
  let userId: string;
  beforeEach(async () => {
    ({ cookie } = await signIn(us));
    userId = await value('select id from portal_users where account_id = ?1', us.accountId);
    await setMailRule(env, caller(), userId, { ...levels, levels: [] }); // the first person has one
  });
  const levels = { levels: [1], risk: null, groups: null };
  const channel = {
    kind: 'https',
    name: 'Ops',
    url: 'https://ops.example.com/x',
    getsAlerts: true,
  } as const;

  const crashed = async () => {
    await send(vehicle(), accident());
    return value<string>('select id from accidents where account_id = ?1', us.accountId);
  };
  const warning = /Nobody is notified of accidents of this connection/;
  async function warnings(accidentId: string): Promise<string[]> {
    const { id } = us.connection;
    const status = await operator.get<{ uncovered: { connectionId: string }[] }>(
      '/operator/status',
    );
    const found = {
      status: status.data.uncovered.some(({ connectionId }) => connectionId === id),
      overview: /Nobody is notified of accidents of “/.test(await portal.textAt('/portal')),
      connection: (await portal.textAt(`/portal/connections/${id}`)).match(warning),
      accident: (await portal.textAt(`/portal/accidents/${accidentId}`)).match(warning),
      reply: (await connect()).warning?.match(warning),
    };
    return Object.entries(found).flatMap(([place, warns]) => (warns ? [place] : []));
  }
  const everywhere = ['status', 'overview', 'connection', 'accident', 'reply'];

  it.each<[what: string, places: string[], set: () => Promise<unknown>]>([
    ['nothing', everywhere, async () => {}],
    ['a webhook for accidents', [], () => all()],
    ['a webhook for some levels of them', [], () => all({ filters: { accidentLevels: [3] } })],
    ['a webhook for safety events alone', everywhere, () => all({ notificationTypes: [2] })],
    [
      'a paused webhook',
      everywhere,
      async () => us.api.post(`/webhook/${(await all()).id}/pause`, {}),
    ],
    ['a webhook of this connection alone', ['reply'], () => register()],
    ["somebody's emails", [], () => setMailRule(env, caller(), userId, levels)],
    [
      "somebody's emails of safety events",
      everywhere,
      () => setMailRule(env, caller(), userId, { ...levels, levels: [], risk: 4 }),
    ],
    ['a channel', [], () => saveChannel(env, caller(), channel, levels)],
  ])('with %s is warned of in %j', async (_, places, set) => {
    const crash = await crashed();
    await set();
    expect(await warnings(crash)).toEqual(places);
  });

  it('is found among 200 connections, newest first, with few rows', async () => {
    const now = Date.now();
    const named = (i: number) => ({
      id: `c-${i}${us.accountId}`,
      name: `c-${i}`,
      created_at: now + i,
    });
    const of = { account_id: us.accountId, provider: 'motive' };
    await addRows('connections', 300, (i) => ({ ...of, ...named(i) }));
    await all();
    await rows('delete from webhook_connections where connection_id = ?1', `c-150${us.accountId}`);
    const meter = metered();
    const db = openDatabase(meter.env);
    const found = await transaction(db, selectUncovered(meter.env, db, caller()));
    expect(found).toEqual([{ id: `c-150${us.accountId}`, name: 'c-150' }]);
    expect(meter.cost.read).toBeLessThan(200 * 5);
  });

  it('is not warned of once somebody says so, until they want it again', async () => {
    const crash = await crashed();
    const path = `/portal/connections/${us.connection.id}`;
    const page = await portal.outcome(`${path}/warning`);
    expect(page).toContain('No warning if nobody is notified Warn again');
    expect(await warnings(crash)).toEqual(['reply']);
    expect(await portal.outcome(`${path}/warning`, { do: 'warn' })).toMatch(warning);
    const them = await world();
    const other = `/portal/connections/${them.connection.id}/warning`;
    expect((await portal.post(other)).status).toBe(404);
  });

  it('is not warned of where accidents are over, or not expected', async () => {
    const crash = await crashed();
    const path = `/portal/accidents/${crash}`;
    expect(await portal.textAt(path)).toMatch(warning);
    expect(await portal.outcome(path, { do: 'close', note: '' })).not.toMatch(warning);
    const pull = { account_id: us.accountId, secrets: '{}', paused_at: 1 };
    await addRows('pulls', 1, () => ({ ...pull, connection_id: us.connection.id }));
    expect(await warnings(crash)).toEqual(['reply']);
  });
});
