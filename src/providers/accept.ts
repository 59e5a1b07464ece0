import { ingest } from '../ingest/service.ts';
import { unknownParent } from '../ingest/steps.ts';
import { newId } from '../platform/db/ids.ts';
import { send } from '../platform/queue.ts';
import type { DeliveryMessage } from '../webhooks/deliveries/queue.ts';
import type { Found, ProviderRecord } from './connector.ts';
import { msOf } from './read.ts';
import { type Claimed, noteRefusals } from './store.ts';

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
  const isOld = (record: ProviderRecord) => msOf(record.startedAt ?? record.eventTime) < claimed.connectedAt;
  let unknownVehicles = false;
  for (const notify of [true, false]) {
    const part = records.filter((record) => isOld(record) !== notify);
    for (let at = 0; at < part.length; at += maxRecords) {
      const some = part.slice(at, at + maxRecords);
      if (await takeInSome(env, claimed, some, { notify, vehicles })) unknownVehicles = true;
    }
  }
  return { unknownVehicles };
}

async function takeInSome(
  env: Env,
  claimed: Claimed,
  records: ProviderRecord[],
  { notify, vehicles }: { notify: boolean; vehicles: ProviderRecord[] },
): Promise<boolean> {
  const { accountId, connectionId, claim, provider, tSP, incidentTypeMap } = claimed;
  const wakes: Promise<unknown>[] = [];
  const start = (messages: DeliveryMessage[]) => wakes.push(send(env.DELIVERIES, messages));
  /** Returns the refused records and why. */
  const write = async (some: ProviderRecord[]) => {
    const source = { accountId, connectionId, provider, tSP, incidentTypeMap };
    const { rejected } = await ingest(
      env,
      { accountId, pull: { connectionId, claim } },
      { ...source, now: Date.now(), requestId: newId() },
      { records: some.map(withoutWrongEnd), notify },
      start,
    );
    return rejected.flatMap(({ index, sourceId, message }) => {
      const record = some[index];
      return record ? [{ record, sourceId: sourceId ?? '', reason: message }] : [];
    });
  };
  let refused = await write(records);
  const isOrphan = ({ reason }: { reason: string }) => reason === unknownParent('vehicle');
  const orphans = refused.filter(isOrphan).map(({ record }) => record);
  if (orphans.length > 0) {
    const known = new Map(vehicles.map((vehicle) => [vehicle.sourceId, vehicle]));
    const unknown = new Set(orphans.map(({ vehicle }) => vehicle));
    const placeholders = [...unknown].map((id) => placeholder(id, known.get(id)));
    refused = refused.filter((one) => !isOrphan(one));
    for (const some of [placeholders, orphans]) refused.push(...(await write(some)));
  }
  await Promise.all(wakes);
  const reasons = refused.map(({ record: { kind }, ...why }) => ({ kind, ...why }));
  if (reasons.length > 0) await noteRefusals(env, claimed, reasons, Date.now());
  return orphans.length > 0;
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
