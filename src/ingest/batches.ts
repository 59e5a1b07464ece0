import type { Source } from '../fleet/record.ts';
import { recordKinds } from '../fleet/registry.ts';
import type { Accepted } from './accept.ts';
import { keeperOf } from './keep.ts';
import { notifierOf } from './notify.ts';

/** How records of each kind are kept, and how customers are told of them: worked out once. */
const kinds = recordKinds.map((resource) => ({
  kind: resource.kind,
  toRow: resource.toRow,
  keeper: 'table' in resource ? keeperOf(resource) : undefined,
  notifier: notifierOf(resource.kind),
}));

/** A record that was accepted, with its row. */
export type Entry = Accepted & { row: { id: string; [key: string]: unknown } };

/** The records of one kind in a call, with their notifications. */
export type Batch = ReturnType<typeof batchOf>;

/** The accepted records of a call, kind by kind, in the order they are written. */
export const batchesOf = (source: Source, accepted: Accepted[]): Batch[] =>
  kinds.map((kind) => batchOf(source, kind, accepted)).filter(({ entries }) => entries.length > 0);

function batchOf(
  source: Source,
  { kind, toRow, keeper, notifier }: (typeof kinds)[number],
  accepted: Accepted[],
) {
  const entries = accepted
    .filter(({ record }) => record.kind === kind)
    .map((item): Entry => ({ ...item, row: toRow(item.record, source) }));
  const notifications = notifier
    ? entries.map(({ record, row }) => notifier.notification(source, record, row))
    : [];
  return { keeper, notifier, entries, notifications };
}
