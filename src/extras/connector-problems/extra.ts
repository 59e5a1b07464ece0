import type { Extra } from '../extra.ts';
import { pages } from './pages.tsx';
import { noteProblems } from './problems.ts';
import { ingestProblems } from './tables.ts';

export const extra: Extra = {
  pages,
  ingest: { noteCall: noteProblems },
  tables: [ingestProblems.connectionId],
};
