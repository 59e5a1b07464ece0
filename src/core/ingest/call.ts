import type { Source } from '../fleet/lists/record.ts';
import type { Caller } from '../platform/db/guard.ts';
import type { EvidenceOfRecords } from './accidents.ts';
import type { Rejection, Warning } from './schema.ts';

/** Notes how a call of a connector ended. */
export type NoteCall = (
  env: Env,
  caller: Caller,
  source: Source,
  call: { records: unknown[]; rejected: Rejection[]; warnings: Warning[] | undefined },
) => Promise<void>;

/** What else a call of a connector does: with links to evidence, and once it has ended, behind the response. */
export type BesidesCall = { evidence?: EvidenceOfRecords; noteCall?: NoteCall };
