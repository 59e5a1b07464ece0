import { field, msOf } from '../read.ts';

/** The id that something refers to: bare, or in an object. Null for the ids that stand for nobody. */
export function reference(value: unknown, name: string): unknown {
  const found = field(value, name);
  const id = typeof found === 'object' ? field(found, 'id') : found;
  return typeof id === 'string' && /^(?:Unknown|No)[A-Z]\w*Id$/.test(id) ? null : id;
}

/** Geotab has dates of year 1 and of 1986 for "never", and of 2050 for "not yet". */
const earliest = Date.UTC(1990, 0, 1);
const notYet = Date.UTC(2050, 0, 1);

/** A time; null if it is one of those that stand for none. */
export function timeAt(value: unknown, name: string): unknown {
  const found = field(value, name);
  const ms = msOf(found);
  return ms < earliest || ms >= notYet ? null : found;
}

/** Whether a vehicle or a user is still active: until when is in `activeTo`. */
export const isActive = (value: unknown): boolean => !(msOf(field(value, 'activeTo')) <= Date.now());

/** Text as it is, or null. */
export const textAt = (value: unknown, name: string): string | null => {
  const found = field(value, name);
  return typeof found === 'string' ? found : null;
};
