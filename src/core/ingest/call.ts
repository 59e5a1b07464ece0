import type { Source } from '../fleet/lists/record.ts';
import type { Caller } from '../platform/db/guard.ts';
import type { Rejection, Warning } from './schema.ts';

/** Notes how a call of a connector ended. */
export type NoteCall = (
  env: Env,
  caller: Caller,
  source: Source,
  call: { records: unknown[]; rejected: Rejection[]; warnings: Warning[] | undefined },
) => Promise<void>;
