import type { Kind } from '../fleet/lists/registry.ts';
import type { Accepted, IngestRecord, RecordWarning } from './schema.ts';

/**
 * Of the records for the same thing, the newest version, or else the last one. Warns of those that
 * have the id of a thing and describe another.
 */
export function newestOf(records: Accepted[]): { newest: Accepted[]; warnings: RecordWarning[] } {
  const byKey = new Map<string, Accepted>();
  const byId = new Map<string, Accepted>();
  const warnings: RecordWarning[] = [];
  for (const next of records) {
    const { kind, sourceId } = next.record;
    const id = JSON.stringify([kind, sourceId]);
    const previous = byId.get(id);
    byId.set(id, next);
    if (previous && areDifferent(previous.record, next.record))
      warnings.push({
        index: next.index,
        otherIndex: previous.index,
        field: 'sourceId',
        message: `is also that of a different ${kind} of the call: they are taken for one`,
        severity: 'lost',
      });
    const key = JSON.stringify([
      kind,
      sourceId,
      kind === 'accident' && next.record.notificationLevel,
    ]);
    const before = byKey.get(key);
    const older = (next.record.sourceUpdatedAt ?? Infinity) < (before?.record.sourceUpdatedAt ?? 0);
    if (older) continue;
    byKey.delete(key);
    byKey.set(key, next);
  }
  return { newest: [...byKey.values()], warnings };
}

/** By which fields things of a kind differ, and which a new version may correct; other kinds have none. */
const identifying: { [K in Kind]?: { always: string[]; mayChange: string[] } } = {
  driver: { always: ['email', 'licenseNumber'], mayChange: ['name'] },
  vehicle: { always: ['vin', 'licensePlate'], mayChange: ['name'] },
  trip: { always: ['vehicle'], mayChange: ['startedAt'] },
  safetyEvent: { always: ['vehicle'], mayChange: ['startedAt'] },
  accident: { always: ['vin', 'vehicle'], mayChange: ['eventTime'] },
};

/** Whether two records with one id describe different things. */
function areDifferent(one: IngestRecord, other: IngestRecord): boolean {
  const { always, mayChange } = identifying[one.kind] ?? { always: [], mayChange: [] };
  const fields = areVersions(one, other) ? always : [...always, ...mayChange];
  const [a, b]: { [name: string]: unknown }[] = [one, other];
  return fields.some((name) => a?.[name] && b?.[name] && a[name] !== b[name]);
}

/** Whether two records say themselves that they are versions, or levels, of one thing. */
const areVersions = (one: IngestRecord, other: IngestRecord): boolean =>
  levelOf(one) !== levelOf(other) ||
  (one.sourceUpdatedAt != null &&
    other.sourceUpdatedAt != null &&
    one.sourceUpdatedAt !== other.sourceUpdatedAt);

const levelOf = (record: IngestRecord) => record.kind === 'accident' && record.notificationLevel;
