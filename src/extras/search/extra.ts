import type { Extra } from '../extra.ts';
import { handlers } from './handlers.ts';
import { pages } from './pages.tsx';

export const extra: Extra = { handlers, pages };
