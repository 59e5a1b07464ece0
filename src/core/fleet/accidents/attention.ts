import { sql } from 'drizzle-orm';

/** SQL for whether an accident needs attention: until somebody acknowledges or closes it. An index has those. */
export const needsAttention = sql`dismissed = 0 and acknowledged is null and closed is null`;
