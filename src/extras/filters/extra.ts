import type { Extra } from '../extra.ts';
import { pages } from './pages.tsx';

export const extra: Extra = { pages };
