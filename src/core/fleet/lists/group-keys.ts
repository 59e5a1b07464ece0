import { type SQL, sql } from 'drizzle-orm';
import { withoutInvisible } from './nothing.ts';

/** A group as groups are compared: as it looks in whatever case, and composed or decomposed. */
export const groupKey = (name: string): string =>
  withoutInvisible(name).normalize('NFC').toUpperCase().toLowerCase();

/** The keys of groups as stored: null if SQLite finds them by the case of A to Z alone. */
export function storedGroupKeys(groups: string[]): string[] | null {
  const keys = groups.map(groupKey);
  const isPlain = groups.every(
    (name, i) => name.replace(/[A-Z]/g, (letter) => letter.toLowerCase()) === keys[i],
  );
  return isPlain ? null : keys;
}

/** SQL for the keys of the groups of the vehicle `v`, as JSON. */
export const groupKeysOfVehicle: SQL = sql`coalesce(v.group_keys, lower(v.groups))`;
