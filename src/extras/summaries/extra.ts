// Needs: providers, trends
import type { Extra } from '../extra.ts';
import { sendSummaries, summariesAreDue } from './summaries.ts';

export const extra: Extra = {
  jobs: {
    /** 20 people a step; each person once a day. */
    summaries: { isDue: summariesAreDue, run: sendSummaries },
  },
};
