import type { Extra } from '../extra.ts';
import { noteProblems } from './problems.ts';
import { ingestProblems } from './tables.ts';

export const extra: Extra = {
  ingest: { noteCall: noteProblems },
  tables: [ingestProblems.connectionId],
};
