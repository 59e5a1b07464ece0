// Needs: providers, trends
import type { Extra } from '../extra.ts';
import { pages } from './pages.tsx';
import { sendSummaries, summariesAreDue } from './summaries.ts';

export const extra: Extra = {
  pages,
  jobs: {
    /** 20 people a step; each person once a day. */
    summaries: { isDue: summariesAreDue, run: sendSummaries },
  },
};
