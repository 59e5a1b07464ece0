import type { Extra } from '../extra.ts';
import { rehearseRecords } from './rehearse.ts';

export const extra: Extra = { ingest: { rehearse: rehearseRecords } };
