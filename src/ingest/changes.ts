import { noteWritten, type Written } from '../fleet/changes/note.ts';
import type { Source } from '../fleet/lists/record.ts';
import { recordKinds } from '../fleet/lists/registry.ts';
import type { Database } from '../platform/db/database.ts';
import type { Batch } from './batches.ts';

const kept = recordKinds.flatMap((resource) =>
  'table' in resource ? [{ kind: resource.kind, table: resource.table }] : [],
);

/** The statement that notes which of a call's records have changed, for the change feed; none if no table keeps them. */
export function noteChanges(db: Database, source: Source, batches: Batch[]) {
  const entries = batches.flatMap((batch) => batch.entries);
  const written = kept.flatMap(({ kind, table }): Written[] => {
    const ids = entries.flatMap(({ record, row }) => (record.kind === kind ? [row.id] : []));
    return ids.length > 0 ? [{ kind, table, ids: [...new Set(ids)] }] : [];
  });
  return written.length > 0 ? [noteWritten(db, source, written)] : [];
}
