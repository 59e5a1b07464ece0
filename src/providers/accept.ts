import { ingest } from '../ingest/service.ts';
import { unknownParent } from '../ingest/steps.ts';
import { newId } from '../platform/db/ids.ts';
import { send } from '../platform/queue.ts';
import type { DeliveryMessage } from '../webhooks/deliveries/queue.ts';
import type { Found, ProviderRecord } from './connector.ts';
import { msOf } from './read.ts';
import { type Claimed, noteRefusals, type Refused } from './store.ts';

/** The most records of a call of `/ingest`. */
const maxRecords = 500;

/**
 * Stores a page's records through the write of `/ingest`, and the refused ones with their reasons. Records from before
 * the connection was made notify nobody. Returns whether they name unknown vehicles.
 *
 * @throws Refusal: unavailable, when the claim has expired; what `ingest` throws
 */
export async function takeIn(
  env: Env,
  claimed: Claimed,
  { records, vehicles = [] }: Found,
): Promise<{ unknownVehicles: boolean }> {
  const known = new Map(vehicles.map((vehicle) => [vehicle.sourceId, vehicle]));
  const isOld = (record: ProviderRecord) => msOf(record.startedAt ?? record.eventTime) < claimed.connectedAt;
  let unknownVehicles = false;
  for (const notify of [true, false]) {
    const part = records.filter((record) => isOld(record) !== notify);
    for (let at = 0; at < part.length; at += maxRecords) {
      const refused = await write(env, claimed, part.slice(at, at + maxRecords), notify);
      const orphans = refused.filter(isOrphan).map(({ record }) => record);
      const missing = [...new Set(orphans.map(({ vehicle }) => vehicle))];
      const placeholders = missing.map((id) => placeholder(id, known.get(id)));
      const reasons = refused.filter((one) => !isOrphan(one));
      for (const again of orphans.length > 0 ? [placeholders, orphans] : [])
        reasons.push(...(await write(env, claimed, again, notify)));
      if (reasons.length > 0) await noteRefusals(env, claimed, reasons, Date.now());
      unknownVehicles ||= orphans.length > 0;
    }
  }
  return { unknownVehicles };
}

type RefusedRecord = Refused & { record: ProviderRecord };

const isOrphan = ({ reason }: RefusedRecord) => reason === unknownParent('vehicle');

/** Stores records. Returns the refused ones and why. */
async function write(
  env: Env,
  { accountId, connectionId, claim, provider, tSP, incidentTypeMap }: Claimed,
  records: ProviderRecord[],
  notify: boolean,
): Promise<RefusedRecord[]> {
  const wakes: Promise<unknown>[] = [];
  const source = { accountId, connectionId, provider, tSP, incidentTypeMap };
  const { rejected } = await ingest(
    env,
    { accountId, pull: { connectionId, claim } },
    { ...source, now: Date.now(), requestId: newId() },
    { records: records.map(withoutWrongEnd), notify },
    (messages: DeliveryMessage[]) => wakes.push(send(env.DELIVERIES, messages)),
  );
  await Promise.all(wakes);
  return rejected.flatMap(({ index, sourceId, message }) => {
    const record = records[index];
    return record ? [{ record, kind: record.kind, sourceId: sourceId ?? '', reason: message }] : [];
  });
}

/** A provider's clock may go back between the two times: the impossible end is dropped. */
const withoutWrongEnd = ({ endedAt, ...record }: ProviderRecord): ProviderRecord =>
  endedAt == null || msOf(endedAt) < msOf(record.startedAt) ? record : { ...record, endedAt };

/** A vehicle until its feed has it: any version of the provider's own is newer. */
const placeholder = (sourceId: unknown, known: ProviderRecord | undefined): ProviderRecord => ({
  name: sourceId,
  ...known,
  kind: 'vehicle',
  sourceId,
  sourceUpdatedAt: new Date(0).toISOString(),
});
