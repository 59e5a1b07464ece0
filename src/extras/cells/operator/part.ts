import * as v from 'valibot';
import { config } from '../../../core/platform/config.ts';
import { checksum } from '../../../core/platform/crypto.ts';
import type { accounts } from '../../../core/platform/db/schema/accounts.ts';
import { invalid } from '../../../core/platform/errors.ts';
import type { Row } from '../../../operator/deletion/rows.ts';
import { tables } from '../../../operator/deletion/tables.ts';
import type { Move as Shown } from '../operations.ts';

/** How a move stands, in the cell that the account leaves. The other one has only its id. */
export type Move = Shown & {
  id: string;
  /** When it came to its state. */
  since: number;
  /** Copying has come to which table or folder, and there after which row or file. */
  at: number;
  after: unknown[] | null;
};

/** What the cell where the account goes does next; the body of its request has what that takes. */
export type Part = {
  from: string;
  file?: { key: string; md5: string | null };
  /** How the move stands, which says what is to be done, and how it goes on after that. */
  now: Move;
  next: Move;
};

/** The body of all parts but copies: the account, and what the other cell has to have for it. */
export type Offer = {
  account: typeof accounts.$inferSelect;
  counts: { [table: string]: number };
  alike: string[];
  hasBucket: boolean;
  /** No other account there may have these values, by their column. */
  unique: { [column: string]: string[] };
};

/** The body that copies rows. */
export type Rows = { table: string; rows: Row[] };

/** Rows can have any text, and headers cannot. */
export const encodePart = (part: Part): string => encodeURIComponent(JSON.stringify(part));

/** @throws Refusal: invalid, for what `encodePart` has not made */
export function decodePart(part: string): Part {
  const decoded = jsonOf(part);
  if (!v.is(Encoded, decoded)) throw invalid('Not a part of a move');
  return decoded as Part; // as `encodePart` made it
}

const Stage = v.object({ id: v.string(), accountId: v.string(), state: v.string() });
const Encoded = v.object({
  from: v.string(),
  now: Stage,
  next: Stage,
  file: v.optional(v.object({ key: v.string() })),
});

function jsonOf(part: string): unknown {
  try {
    return JSON.parse(decodeURIComponent(part));
  } catch {
    return undefined;
  }
}

/** The same in cells that have the same ENCRYPTION_KEYS and tables. */
export const alike = (env: Env): Promise<string[]> =>
  Promise.all(
    config(env).encryptionKeys.map((key) => checksum([key], 'move', JSON.stringify(tables))),
  );
