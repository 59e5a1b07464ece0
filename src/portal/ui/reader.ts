import { createContext, useContext } from 'hono/jsx';
import type { Units } from '../../accounts/accounts.ts';
import type { FieldError } from '../../platform/errors.ts';
import type { Role } from '../../platform/roles.ts';

/** The fields of a form that was sent. A missing field is empty; of a repeated one `value` is the last. */
export type SentForm = { value: (name: string) => string; values: (name: string) => string[] };

/** What fields show instead of their own values, and what is wrong with them. */
export type Filled = SentForm & { errors: FieldError[] };

/** Who reads a page, and what they see it by. */
export type Reader = {
  role: Role;
  /** Their time zone, by its IANA name. */
  zone: string;
  /** The units that their account has chosen. */
  units: Units;
  /** The style of a tile provider that the operator has chosen, by its URL; without one, maps show outlines. */
  mapStyle?: string | undefined;
  /** The form that they have sent to this path, and that is shown again. */
  shownAgain?: (Filled & { path: string }) | undefined;
};

/** The reader of the page that is being made. */
export const PageReader = createContext<Reader>({ role: 'viewer', zone: 'UTC', units: 'metric' });

export const reader = (): Reader => useContext(PageReader);
