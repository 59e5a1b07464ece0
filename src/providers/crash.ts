import type { ProviderRecord } from './connector.ts';

/** What a provider says of a crash: how far it has come, and where its report is. */
export type Crash = { vin: unknown; level: number; dismissed: boolean; reportUrl: unknown };

/**
 * The records of an accident: one for each level it has reached, since each is told once; or one that dismisses it. None
 * without a VIN and a place, which accidents need: until both are known it remains a safety event.
 */
export function crashRecords(
  { sourceId, sourceUpdatedAt, startedAt, location }: ProviderRecord,
  { vin, level, dismissed, reportUrl }: Crash,
): ProviderRecord[] {
  if (vin === null || location === null) return [];
  const record = {
    kind: 'accident' as const,
    sourceId,
    sourceUpdatedAt,
    eventTime: startedAt,
    vin,
    location,
  };
  if (dismissed) return [{ ...record, notificationLevel: 1, dismissed: true }];
  return Array.from({ length: level }, (_, i) => ({
    ...record,
    notificationLevel: i + 1,
    ...(i === 2 && { reportUrl }),
  }));
}
