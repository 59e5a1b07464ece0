import type { Extra } from '../extra.ts';
import { handlers } from './handlers.ts';
import { matchFleet } from './search.ts';

export const extra: Extra = { handlers, pages: { matchFleet } };
