import type { Ingest, IngestBatch, IngestReply } from '../../../index.ts';

export type Records = IngestBatch['records'];
export type VehicleRecord = Extract<Records[number], { kind: 'vehicle' }>;

/** What a provider reported, and what little it said of the vehicle, should the service not know it yet. */
export type Report = { records: Records; vehicle?: VehicleRecord };

/**
 * Sends in a report. A webhook tells little of its vehicle, less than the service may know already: so the
 * vehicle goes along only when an event of it was refused for want of one.
 */
export async function sendIn(
  service: Service<typeof Ingest>,
  ingestKey: string,
  { records, vehicle }: Report,
): Promise<IngestReply> {
  const reply = await service.records(ingestKey, { records });
  const unknown =
    reply.status === 200 && reply.data.rejected.some(({ message }) => /^vehicle is neither/.test(message));
  return unknown && vehicle ? service.records(ingestKey, { records: [vehicle, ...records] }) : reply;
}
