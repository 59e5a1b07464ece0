// Needs: alerts, delivery-log, search
import type { Extra } from '../extra.ts';
import { handlers } from './handlers.ts';

export const extra: Extra = { handlers };
