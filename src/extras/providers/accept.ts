import { sql } from 'drizzle-orm';
import { type IngestCall, ingest } from '../../core/ingest/service.ts';
import { unknownParent } from '../../core/ingest/write.ts';
import { type Credential, lostLease } from '../../core/platform/db/guard.ts';
import { newId } from '../../core/platform/db/ids.ts';
import { sentence } from '../../core/platform/fields.ts';
import { partsOf } from '../../core/platform/parts.ts';
import { send } from '../../core/platform/queue.ts';
import { evidenceOfRecords as evidence } from '../evidence/records.ts';
import type { Found, ProviderRecord } from './connector/connector.ts';
import { msOf } from './connector/read.ts';
import { type Claimed, keepRefusals, type Refused } from './store.ts';

const maxRecords = 500;

/**
 * Stores a page's records through the write of `/ingest`, and the refused ones with their reasons.
 * Those from before the connection notify nobody. Returns whether they name unknown vehicles.
 * @throws Refusal: unavailable, when the claim has expired; what `ingest` throws
 */
export async function ingestPulled(
  env: Env,
  claimed: Claimed,
  { records, vehicles = [] }: Found,
): Promise<{ unknownVehicles: boolean }> {
  const known = new Map(vehicles.map((vehicle) => [vehicle.sourceId, vehicle]));
  const isOld = (record: ProviderRecord) =>
    msOf(record.startedAt ?? record.eventTime) < claimed.connectedAt;
  let unknownVehicles = false;
  const problems: Refused[] = [];
  const isOfAccident = records.some(({ kind }) => kind === 'accident');
  for (const notify of [true, false]) {
    const call = { notify, isOfAccident };
    const part = records.filter((record) => isOld(record) !== notify);
    for (const some of partsOf(part, maxRecords)) {
      const found = await write(env, claimed, some, call);
      const orphans = found.flatMap((one) => (isOrphan(one) ? [one.record] : []));
      const missing = [...new Set(orphans.map(({ vehicle }) => vehicle))];
      const placeholders = missing.map((id) => placeholder(id, known.get(id)));
      problems.push(...found.filter((one) => !isOrphan(one)));
      // Accidents are accepted without their vehicle, and get it when they are sent again.
      const accidents = some.filter(
        ({ kind, vehicle }) => kind === 'accident' && missing.includes(vehicle),
      );
      for (const again of orphans.length > 0 ? [placeholders, [...orphans, ...accidents]] : [])
        problems.push(...(await write(env, claimed, again, call)));
      unknownVehicles ||= orphans.length > 0;
    }
  }
  if (problems.length > 0) await keepRefusals(env, claimed, problems, Date.now());
  return { unknownVehicles };
}

/** The claim on a pull, by which its invocation writes while nobody else has it. */
const claimOf = (connectionId: string, claim: string): Credential => ({
  row: () => sql`(
    select account_id, null as role from pulls
    where connection_id = ${connectionId} and claim = ${claim})`,
  refusal: lostLease,
  who: sql`(select null as id, null as name)`,
});

type WithRecord = Refused & { record: ProviderRecord };

const isOrphan = ({ accepted, reason }: Refused) =>
  !accepted && reason === unknownParent('vehicle');

/** Stores records. Returns the refused ones and why, and what could not be used of others. */
async function write(
  env: Env,
  { accountId, connectionId, claim, provider, tSP, incidentTypeMap }: Claimed,
  records: ProviderRecord[],
  call: Omit<IngestCall, 'records'>,
): Promise<WithRecord[]> {
  const wakes: Promise<unknown>[] = [];
  const source = { accountId, connectionId, provider, tSP, incidentTypeMap };
  const { rejected, warnings } = await ingest(
    env,
    { accountId, credential: claimOf(connectionId, claim) },
    { ...source, now: Date.now(), requestId: newId() },
    { records, ...call },
    { start: (messages) => wakes.push(send(env.DELIVERIES, messages)), evidence },
  );
  await Promise.all(wakes);
  const doubtful = [...Map.groupBy(warnings, ({ index }) => index)].map(([index, found]) => {
    const reason = found.map(sentence).join('. ').slice(0, maxReason);
    return { index, sourceId: String(records[index]?.sourceId), reason, accepted: true as const };
  });
  return [
    ...rejected.map(({ message: reason, ...refused }) => ({ ...refused, reason })),
    ...doubtful,
  ].flatMap(({ index, sourceId, ...found }) => {
    const record = records[index];
    return record ? [{ record, kind: record.kind, sourceId: sourceId ?? '', ...found }] : [];
  });
}

const maxReason = 500;

/** A vehicle until its feed has it: any version of the provider's own is newer. */
const placeholder = (sourceId: unknown, known: ProviderRecord | undefined): ProviderRecord => ({
  name: sourceId,
  ...known,
  kind: 'vehicle',
  sourceId,
  sourceUpdatedAt: new Date(0).toISOString(),
});
