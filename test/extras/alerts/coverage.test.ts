import { env } from 'cloudflare:workers';
import { asCaller } from '#src/core/platform/db/guard.ts';
import { saveChannel } from '#src/extras/alerts/channels.ts';
import { selectUncovered } from '#src/extras/alerts/coverage.ts';
import { saveMailRule } from '#src/extras/alerts/rules.ts';
import {
  accident,
  addConnection,
  addRow,
  addRows,
  metered,
  openDatabase,
  operator,
  ownRows,
  personBefore,
  rows,
  story,
  transaction,
  vehicle,
} from '#test/support.ts';

const { us, send, register } = story();
const caller = () => ({ accountId: us.accountId, operator: true }) as const;

const all = (changes: object = {}) =>
  register({ connectionIds: undefined, ...changes, allConnections: true });

describe('a connection whose accidents nobody is notified of', () => {
  const portal = personBefore(beforeEach, us);
  const levels = { levels: [1], risk: null, groups: null };
  const choose = (rule: object) =>
    asCaller(env, caller(), (db) => saveMailRule(db, caller(), portal.id, { ...levels, ...rule }));
  beforeEach(() => choose({ levels: [] })); // the first person has one
  const channel = {
    kind: 'https',
    name: 'Ops',
    url: 'https://ops.example.com/x',
    getsAlerts: true,
  } as const;

  const crashed = async () => {
    await send(vehicle(), accident());
    return `/portal/accidents/${(await ownRows(us, 'accidents'))[0]?.id}`;
  };
  const warning = /Nobody is notified of accidents of this connection/;
  async function warnings(accidentPage: string) {
    const { id } = us.connection;
    type Status = { uncovered: { connectionId: string }[] };
    const { uncovered } = (await operator.get<Status>('/operator/status')).data;
    const found = {
      status: uncovered.some(({ connectionId }) => connectionId === id),
      overview: /Nobody is notified of accidents of “/.test(await portal.textAt('/portal')),
      connection: warning.test(await portal.textAt(`/portal/connections/${id}`)),
      accident: warning.test(await portal.textAt(accidentPage)),
      reply: warning.test(String((await addConnection(us.accountId)).warning)),
    };
    return Object.entries(found).flatMap(([place, warns]) => (warns ? [place] : []));
  }
  const everywhere = ['status', 'overview', 'connection', 'accident', 'reply'];

  it.each<[what: string, places: string[], set: () => Promise<unknown>]>([
    ['nothing', everywhere, async () => {}],
    ['a webhook for some levels', [], () => all({ filters: { accidentLevels: [3] } })],
    ['a webhook for safety events alone', everywhere, () => all({ notificationTypes: [2] })],
    [
      'a paused webhook',
      everywhere,
      async () => us.api.post(`/webhook/${(await all()).id}/pause`, {}),
    ],
    ['a webhook of this connection alone', ['reply'], () => register()],
    ["somebody's emails", [], () => choose({})],
    ["somebody's emails of safety events", everywhere, () => choose({ levels: [], risk: 4 })],
    ['a channel', [], () => saveChannel(env, caller(), channel, levels)],
  ])('with %s is warned of in %j', async (_, places, set) => {
    const crash = await crashed();
    await set();
    expect(await warnings(crash)).toEqual(places);
  });

  it('is found among 200 connections, newest first, with few rows', async () => {
    const of = { account_id: us.accountId, provider: 'motive' };
    const idOf = (i: number) => `c-${i}${us.accountId}`;
    await addRows('connections', 300, (i) => ({
      ...of,
      id: idOf(i),
      name: `c-${i}`,
      created_at: Date.now() + i,
    }));
    await all();
    await rows('delete from webhook_connections where connection_id = ?1', idOf(150));
    const meter = metered();
    const db = openDatabase(meter.env);
    const found = await transaction(db, selectUncovered(meter.env, db, caller()));
    expect(found).toEqual([{ id: idOf(150), name: 'c-150' }]);
    expect(meter.cost.read).toBeLessThan(200 * 5);
  });

  it('is not warned of once somebody says so, until they want it again', async () => {
    const crash = await crashed();
    const path = `/portal/connections/${us.connection.id}`;
    const page = await portal.outcome(`${path}/warning`);
    expect(page).toContain('No warning if nobody is notified Warn again');
    expect(await warnings(crash)).toEqual(['reply']);
    expect(await portal.outcome(`${path}/warning`, { do: 'warn' })).toMatch(warning);
  });

  it('is not warned of where accidents are over, or not expected', async () => {
    const crash = await crashed();
    expect(await portal.textAt(crash)).toMatch(warning);
    expect(await portal.outcome(crash, { do: 'close', note: '' })).not.toMatch(warning);
    const pull = { account_id: us.accountId, secrets: '{}', paused_at: 1 };
    await addRow('pulls', { ...pull, connection_id: us.connection.id });
    expect(await warnings(crash)).toEqual(['reply']);
  });
});
