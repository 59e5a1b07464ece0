import fc from 'fast-check';
import { beforeAll, expect, it } from 'vitest';
import { recordId } from '../../../src/platform/db/ids.ts';
import { timestamp } from '../../../src/platform/fields.ts';
import { receiver } from '../../support/receiver.ts';
import { accident } from '../../support/records.ts';
import { rows } from '../../support/rows.ts';
import { runs } from '../../support/runs.ts';
import { as, type WebhookOut, webhookBody, worldBefore } from '../../support/world.ts';

/** What a record says of an accident; `version` stands for sourceUpdatedAt. */
type Said = { of: number; level: number; dismissed: boolean; version: number | null; vin: string };

type Known = {
  highest: number;
  levels: number[];
  dismissed: boolean;
  isAccurate: boolean;
  version: number | null;
  vin: string;
};

/** An accident as we understand it, in plain words, and what was notified of it: level and isAccurate. */
class Model {
  known: Known | undefined;
  counted = new Set<number>();
  notified: [level: number, isAccurate: boolean][] = [];

  hear(said: Said, notify: boolean) {
    const before = this.known;
    const versions = said.version !== null && before?.version != null ? [said.version, before.version] : [];
    const [its = 0, ours = 0] = versions;
    const [isOlder, isNewer, isLater] = [its < ours, its > ours, said.level > (before?.highest ?? 0)];
    let dismissed = before?.dismissed ?? false;
    if (!isOlder && said.dismissed) dismissed = true;
    if (!isOlder && !said.dismissed && (isNewer || isLater)) dismissed = false;
    const tell = (level: number, isAccurate: boolean) => {
      if (this.counted.has(level)) return;
      this.counted.add(level);
      if (notify) this.notified.push([level, isAccurate]);
    };
    if (dismissed && this.counted.has(1)) tell(2, false);
    if (!dismissed && !said.dismissed) tell(said.level, said.level >= 2);

    const isBehind = versions.length > 0 ? isOlder : said.level < (before?.highest ?? 0);
    const highest = Math.max(said.level, before?.highest ?? 0);
    this.known = {
      highest,
      levels: [...new Set([...(before?.levels ?? []), said.level])].sort(),
      dismissed,
      isAccurate: !dismissed && highest >= 2,
      version: versions.length > 0 ? Math.max(its, ours) : (said.version ?? before?.version ?? null),
      vin: before && isBehind ? before.vin : said.vin,
    };
  }
}

/** Of the records of a call about the same level of an accident, the newest version counts, or else the last. */
const counting = (call: Said[]) =>
  call.filter((said, i) => {
    const rivals = call.filter(({ of, level }) => of === said.of && level === said.level);
    let best = rivals[0];
    for (const rival of rivals) if ((rival.version ?? Infinity) >= (best?.version ?? 0)) best = rival;
    return best === call[i];
  });

const us = worldBefore(beforeAll);
let hook: WebhookOut;
beforeAll(async () => {
  receiver();
  hook = (await as(us.apiToken).post<WebhookOut>('/webhook', webhookBody(us))).data;
});
let made = 0;
const said = fc
  .record({
    of: fc.constantFrom(0, 0, 0, 1),
    level: fc.integer({ min: 1, max: 3 }),
    dismissed: fc.boolean(),
    version: fc.option(fc.integer({ min: 1, max: 4 })),
  })
  .map((what): Said => ({ ...what, vin: `VIN${made++}` }));
const calls = fc.array(
  fc.record({
    notify: fc.constantFrom(true, true, true, false),
    call: fc.array(said, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 1, maxLength: 6 },
);

let run = 0;

it('whatever is said of accidents in whatever order, each level is notified once, and the list has the sum of it', async () => {
  await fc.assert(
    fc.asyncProperty(calls, async (calls) => {
      run++;
      const models = [new Model(), new Model()];
      for (const { call, notify } of calls) {
        const records = call.map(({ of, level, version, ...rest }) =>
          accident({
            ...rest,
            sourceId: `${run} ${of}`,
            notificationLevel: level,
            sourceUpdatedAt: version && timestamp(version * 60_000),
          }),
        );
        const { data } = await as(us.connection.ingestKey).post<object>('/ingest', { records, notify });
        expect(data).toMatchObject({ rejected: [] });
        for (const one of counting(call)) models[one.of]?.hear(one, notify);
      }
      for (const [of, { known, notified }] of models.entries())
        expect(await found(recordId(us.connection.id, 'accident', `${run} ${of}`))).toEqual({
          known,
          notified: notified.sort(),
        });
    }),
    { numRuns: runs(150) },
  );
}, 600_000);

/** What D1 has of an accident, and what the webhook gets of it. */
async function found(id: string) {
  const [row] = await rows('select * from accidents where id = ?1', id);
  const deliveries = await rows(
    `select n.level, n.data->>'isAccurate' as isAccurate, n.data->>'notificationLevel' as said
     from deliveries d left join notifications n on n.event_id = d.event_id and n.level = d.level
     where d.webhook_id = ?1 and d.event_id = ?2 order by n.level`,
    hook.id,
    id,
  );
  const known = row && {
    highest: row.notification_level,
    levels: JSON.parse(String(row.levels)).map(
      (level: { notificationLevel: number }) => level.notificationLevel,
    ),
    dismissed: row.dismissed === 1,
    isAccurate: row.is_accurate === 1,
    version: row.source_updated_at === null ? null : Number(row.source_updated_at) / 60_000,
    vin: row.vin,
  };
  return { known, notified: deliveries.map(({ said, isAccurate }) => [said, isAccurate === 1]) };
}
