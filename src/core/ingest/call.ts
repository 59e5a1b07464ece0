import type { Source } from '../fleet/lists/record.ts';
import type { Caller } from '../platform/db/guard.ts';
import type { Accepted, Rejection, Warning, WouldNotify } from './schema.ts';
import type { Besides, WriteOptions, WrittenRecords } from './write.ts';

/** Notes how a call of a connector ended. */
export type NoteCall = (
  env: Env,
  caller: Caller,
  source: Source,
  call: { records: unknown[]; rejected: Rejection[]; warnings: Warning[] | undefined },
) => Promise<void>;

/** Finds what storing records would change, which it adds to `total`, and whom it would notify. */
export type Rehearse = (
  env: Env,
  caller: Caller,
  source: Source,
  accepted: Accepted[],
  options: WriteOptions,
  total: WrittenRecords,
) => Promise<WouldNotify[]>;

/** What else a call of a connector does: with links to evidence, in dry runs, and once it has ended, behind the response. */
export type BesidesCall = Pick<Besides, 'evidence'> & { rehearse?: Rehearse; noteCall?: NoteCall };
