import { createContext } from 'hono/jsx';
import type { Units } from '../core/accounts/accounts.ts';
import type { FieldError } from '../core/platform/errors.ts';
import type { Role } from '../core/platform/roles.ts';

/** The fields of a form. A missing field is empty; of a repeated one `value` is the last. */
export type SentForm = { value: (name: string) => string; values: (name: string) => string[] };

/** What fields show instead of their own values, and their errors. */
export type Filled = SentForm & { errors: FieldError[] };

export type Reader = {
  role: Role;
  mayGo: (method: 'GET' | 'POST', address: string) => boolean;
  zone: string;
  units: Units;
  /** The URL of the map style that the operator has chosen; without one, maps show outlines. */
  mapStyle?: string | undefined;
  shownAgain?: (Filled & { path: string }) | undefined;
};

/** Who reads the page; outside of one, nobody who may do anything. */
export const PageReader = createContext<Reader>({
  role: 'viewer',
  mayGo: () => false,
  zone: 'UTC',
  units: 'metric',
});
