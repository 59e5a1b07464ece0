import type { Pages } from '../../../ui/added.ts';
import { pathOfId } from '../find.ts';
import { onRecord } from './notified.tsx';

export const pages: Pages = { pathOfId, record: onRecord };
