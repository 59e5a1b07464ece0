import type { Extra } from '../extra.ts';
import { replicaReader } from './replica-reads.ts';

export const extra: Extra = { reader: replicaReader };
