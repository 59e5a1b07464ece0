// Needs: archive, search
import type { Extra } from '../extra.ts';
import { countEvents, countsAreDue, isCounted, removeMarks } from './job.ts';
import { pages } from './pages/pages.ts';
import { eventsOn } from './read.ts';
import { eventCounting, eventCounts, eventCountsDue } from './tables.ts';

export const extra: Extra = {
  eventsOn,
  mayArchive: isCounted,
  pages,
  jobs: {
    /** A step counts the events of an hour, 10,000 at most; 20 accounts take turns. */
    trends: { isDue: countsAreDue, run: countEvents },
  },
  // They come after the events, of which copies mark their hours as due.
  tables: [eventCounting.accountId, eventCounts.accountId, eventCountsDue.accountId],
  deletion: { account: { last: removeMarks } },
  move: {
    // Copying the events marked their hours as due; the marks that they had are copied next.
    copied: (db, accountId, table) =>
      table === 'event_counting' ? removeMarks(db, accountId) : undefined,
  },
};
