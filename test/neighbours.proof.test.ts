// @module-tag proof
// More than 15 s: 20,000 rows in every table.
import { env } from 'cloudflare:workers';
import { newBudget } from '#src/core/platform/jobs/budget.ts';
import { handle } from '#src/core/webhooks/deliveries/consumer.ts';
import { messageJob } from '#src/extras/alerts/sending.ts';
import { jobs, starters } from '#src/operator/jobs.ts';
import {
  accident,
  as,
  call,
  driver,
  makeDue,
  minute,
  operator,
  ownRows,
  receiver,
  register,
  rows,
  safetyEvent,
  through,
  trip,
  vehicle,
  type World,
  world,
} from '#test/support.ts';
import { cells, prepareCells, workOn } from './extras/cells/support.ts';
import { rowsOf } from './support/account-rows.ts';
import { fullAccount } from './support/full-account.ts';
import { addNeighbour, filledTables, filling, isFirstOf } from './support/neighbour.ts';
import { personalPages, portalAccount } from './support/portal-account.ts';
import { portalRoutes, requestOf, routes } from './support/routes.ts';

/** How a row changes, so that every trigger on changes of its table has something to do. */
const changes: Record<string, string> = {
  vehicles: `search_keys = '["renamed"]'`,
  drivers: `search_keys = '["renamed"]'`,
  safety_events: 'event_risk = 5, started_at = started_at - 1',
};

/** Adds a row to each table, changes and deletes it. Returns how many rows each statement reads, in triggers too. */
async function readByEach() {
  const tables = await filledTables();
  const first = new Map<string, string>();
  for (const table of tables) first.set(table, `where ${await isFirstOf(table, 2)}`);
  const statements = [
    ...(await Promise.all(tables.map((table) => filling(table, 2, 1)))),
    ...Object.entries(changes).map(
      ([table, set]) => `update ${table} set ${set} ${first.get(table)}`,
    ),
    ...tables.toReversed().map((table) => `delete from ${table} ${first.get(table)}`),
  ];
  const reads: [string, number][] = [];
  for (const statement of statements)
    reads.push([statement, (await env.DB.prepare(statement).run()).meta.rows_read]);
  for (const marks of ['event_counting', 'event_counts_due'])
    await rows(`delete from ${marks} where account_id like '2%'`);
  return reads;
}

/** More than the longest page of what all accounts have, and far less than another account has. */
const enough = 5_000;

/** What reads rows of all accounts, because an index by account would cost an entry for each of them. */
const scanning = [
  /from \( ?select \* from notifications .* limit/, // 5,000 at a time, as an account is deleted or moves
];

/** What is tested below, waits for messages, or reports on all accounts. */
const others = /deletion|\/move$|\/check$|\/(?:status|cell|metrics)$/;

/** Jobs that look at a row of each account, or of each of their webhooks and connections. */
const ofEachAccount = [
  ...[messageJob, 'alerts of accidents and events', 'archive', 'service levels', 're-encrypt'],
  ...['note which connections are silent', 'note the size of the database'],
];

const costly = new Map<string, number>();
/** Bindings that note each statement which reads more. */
const watched: Env = {
  ...env,
  DELIVERIES: {
    send: async () => {},
    sendBatch: async () => {},
    metrics: () => env.DELIVERIES.metrics(),
  } as unknown as Queue, // all that the service uses
  DB: through(env.DB, async (run, statements) => {
    const result = await run();
    for (const [i, { meta }] of ([result].flat() as D1Result[]).entries()) {
      const text = statements[i]?.text.replace(/\s+/g, ' ') ?? '';
      if (meta.rows_read > enough && !scanning.some((one) => one.test(text)))
        costly.set(text, meta.rows_read);
    }
    return result;
  }),
};
beforeEach(() => costly.clear());
const nothingCostly = () => {
  expect([...costly]).toEqual([]);
};

describe('beside an account with 20,000 rows in every table', () => {
  it('no trigger or foreign key reads more rows', async () => {
    const changed = await rows(
      "select distinct tbl_name as name from sqlite_master where type = 'trigger' and sql like '% update%on %'",
    );
    expect(Object.keys(changes)).toEqual(expect.arrayContaining(changed.map(({ name }) => name)));
    const alone = await readByEach();
    await addNeighbour();
    expect(await readByEach()).toEqual(alone);
  });

  it('no request reads its rows', async () => {
    const us = await fullAccount();
    const found = await rowsOf(us.accountId);
    const walked = routes.filter((route) => !portalRoutes.includes(route) && !others.test(route));
    const deletes = (route: string) => Number(route.startsWith('DELETE'));
    for (const route of walked.toSorted((a, b) => deletes(a) - deletes(b))) {
      const { method, path: pattern, headers, body } = requestOf(route, us);
      const path = pattern.replace(/([\w-]+)\/:id/, (_, kind: string) => {
        const table =
          { webhook: 'webhooks', users: 'portal_users', channels: 'alert_channels' }[kind] ?? kind;
        return `${kind}/${found[table.replace('-', '_')]?.[0]?.id}`;
      });
      const range = path === '/safety-events' ? '?from=2026-11-01&to=2100-01-01' : '';
      await call(method, path + range, { headers, body, bindings: watched });
    }
    nothingCostly();
  });

  it('no search of operators in another account reads its rows', async () => {
    const us = await fullAccount();
    const { vehicles, drivers } = await rowsOf(us.accountId);
    const { headers } = requestOf('GET /operator', us);
    for (const query of [
      `fleet/find?vehicle=Truck%2012&accountId=${us.accountId}`,
      `fleet/find?driver=Nobody&accountId=${us.accountId}`,
      `why?vehicleId=${vehicles?.[0]?.id}`,
      `why?driverId=${drivers?.[0]?.id}`,
      `deliveries/find?vehicleId=${vehicles?.[0]?.id}`,
    ])
      await call('GET', `/operator/${query}`, { headers, bindings: watched });
    nothingCostly();
  });

  it('no page of the portal reads its rows', async () => {
    const { at, get } = await portalAccount();
    for (const path of personalPages) await get(at(path), { bindings: watched });
    nothingCostly();
  });

  it('no notification reads its rows, whatever its receiver does', async () => {
    const us = await world();
    const heard = receiver();
    const { id: webhookId } = await register(us);
    const work = () => handle(watched, { accountId: us.accountId, webhookId, worker: 1 });
    const records = (name: string, notificationLevel: number) => [
      vehicle({ name }),
      driver({ name }),
      trip({ distanceKm: notificationLevel }),
      safetyEvent({ eventRisk: notificationLevel, startedAt: new Date().toISOString() }),
      accident({ notificationLevel }),
    ];
    for (const [level, status] of [500, 200, 200].entries()) {
      heard.returns(status);
      await as(us.connection.ingestKey, {}, watched).send(...records(`round ${level}`, level + 1));
      await makeDue(webhookId);
      await work();
    }
    nothingCostly();
  });

  it('no job reads its rows that does not look at each account', async () => {
    await minute(watched);
    for (const start of Object.values(starters)) await start(watched);
    for (const [name, { run }] of Object.entries(jobs))
      if (!ofEachAccount.includes(name)) await run(watched, Date.now(), newBudget());
    nothingCostly();
  });

  it('no deletion or move reads its rows', async () => {
    await prepareCells();
    const us: World = await fullAccount();
    const removed = async () => {
      await rows('update deletions set due_at = 0 where account_id = ?1', us.accountId);
      await vi.waitFor(async () => {
        await jobs.deletions?.run(watched, Date.now(), newBudget());
        expect(await ownRows(us, 'deletions')).toEqual([]);
      }, 120_000);
    };
    const remove = async (path: string, body: object) => {
      await operator.post(`/operator/${path}`, body);
      await removed();
    };
    const [person] = await ownRows(us, 'drivers');
    await remove(`drivers/${person?.id}/erasure`, {});
    await remove(`connections/${us.connections[1]?.id}/deletion`, { name: 'Samsara' });
    const to = { bindings: { ...cells, main: watched } };
    let state = '';
    for (let turns = 0; state !== 'done' && turns < 100; turns++) {
      const { data, message } = await workOn(us.accountId, ['main', 'eu'], to);
      if (data?.problem) throw new Error(data.problem);
      state = data?.state ?? message;
    }
    await removed();
    nothingCostly();
  });
});
