import * as v from 'valibot';
import { archiveKinds } from '../../core/fleet/lists/registry.ts';
import type { Operation } from '../operation.ts';
import { count } from '../replies.ts';

/** A day in the archive; `apply` repairs its catalog instead of only comparing. */
export const ArchiveRepair = v.object({
  kind: v.picklist(
    archiveKinds.map(({ name }) => name),
    `must be one of ${archiveKinds.map(({ name }) => name).join(', ')}`,
  ),
  date: v.pipe(
    v.string(),
    v.isoDate('must be a date, such as 2026-05-31'),
    v.metadata({ format: 'date' }),
  ),
  apply: v.optional(v.boolean(), false),
});

const files = v.object({ files: count, records: count });
export const ArchiveRepaired = v.object({ catalog: files, bucket: files, applied: v.boolean() });

export const tag = ['Connections'] as const;

export const operations = {
  repairArchive: {
    call: 'POST /connections/:id/archive/repair',
    summary: 'Compare a day of the archive with its files, and repair its catalog',
    description:
      'Without `apply` nothing changes: `catalog` is what the day has now, and `bucket` what it would have. Put a ' +
      'missing file back first, if there is a copy.',
    body: ArchiveRepair,
    reply: ArchiveRepaired,
  },
} satisfies Record<string, Operation>;
