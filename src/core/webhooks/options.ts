import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm';
import type * as v from 'valibot';
import type { Database } from '../platform/db/database.ts';
import { type StoredOptions, webhooks } from '../platform/db/schema/webhooks.ts';
import type { FieldError } from '../platform/errors.ts';
import type { Filterable } from './filterable.ts';

/*
 * Options of a webhook, such as filters. Each is an extra that declares all of itself here: the core knows none of them.
 * What a webhook has of them is in its column `options`.
 */

/** What the API accepts, returns and documents of a webhook's field. */
export type WebhookField = {
  description: string;
  example?: unknown;
  input: v.GenericSchema;
  output: v.GenericSchema;
};

/** The field of each option, which the option adds: `interface WebhookOptions { filters: typeof field }`. */
// biome-ignore lint/suspicious/noEmptyInterface: extras add to it
export interface WebhookOptions {}

/** What options show once, in the response that makes it, with its schema. */
// biome-ignore lint/suspicious/noEmptyInterface: extras add to it
export interface ShownOnce {}

type OutputOf<S> = S extends v.GenericSchema ? v.InferOutput<S> : never;
type Of<Part extends keyof WebhookField> = {
  [N in keyof WebhookOptions]?: WebhookOptions[N] extends Record<Part, infer S>
    ? OutputOf<S>
    : never;
};

/** What is sent of options, and what is shown. */
type OptionsInput = Of<'input'> & { notificationTypes: readonly number[] };
export type ShownOptions = Of<'output'>;
export type OptionsShownOnce = { [N in keyof ShownOnce]?: OutputOf<ShownOnce[N]> };

/** A webhook whose options are read or changed: some are encrypted for it alone. */
type Own = { env: Env; webhookId: string };

/** What saving a webhook does to its options. */
export type OptionsChange = {
  /** What is stored from now on; null removes it. */
  set?: StoredOptions;
  /** What is stored unless there is some already, and what is shown if there was none. */
  add?: StoredOptions;
  shownOnce?: OptionsShownOnce;
};

/** A call of a delivery, at a time since 1970. */
export type SignedCall = { id: string; at: number; body: string };

/** Returns a bearer token by `until`, other than the one that was `refused`, or why there is none. */
export type Authorize = (
  until: number,
  refused?: string,
) => Promise<{ value: string; problem?: undefined } | { value?: undefined; problem: string }>;

export type WebhookOption = {
  name: keyof WebhookOptions;
  field: WebhookField;
  /** The schemas of what is shown once. */
  shownOnce?: v.ObjectEntries;
  /** Whether what is stored by its name counts towards the size of an account's list. */
  isLarge?: true;
  /** What it stores encrypted. */
  encrypted?: (keyof StoredOptions)[];
  /** What is wrong with it beside other fields. */
  problemOf?: (input: OptionsInput) => FieldError | undefined;
  /** The URL that calls need besides the receiver's, and its field. */
  calls?: (input: OptionsInput) => { field: string; url: string } | undefined;
  /** Returns what to store. @throws Refusal: invalid */
  change: (
    input: OptionsInput,
    own: Own & { before: StoredOptions },
  ) => OptionsChange | Promise<OptionsChange>;
  show: (stored: StoredOptions, own: Own) => ShownOptions | Promise<ShownOptions>;
  /** What of it read-only tokens see. */
  withoutSecrets?: (shown: ShownOptions) => ShownOptions;
  /** Which notifications it lets through: a function, and the same in SQL, of a webhook `f` and a notification `n`. */
  filter?: {
    letsThrough: (stored: StoredOptions, notification: Filterable) => boolean;
    isLetThrough: SQL;
  };
  /** What it adds to the calls of a webhook that has it. Whatever it calls itself gets the same `User-Agent`. */
  prepareCalls?: (
    stored: StoredOptions,
    own: Own & { userAgent: string },
  ) => Promise<{
    headersOf?: (call: SignedCall) => Promise<Record<string, string>>;
    authorize?: Authorize;
  }>;
};

let known: readonly WebhookOption[] = [];

/** Sets the options that webhooks have. */
export function installOptions(options: readonly WebhookOption[]): void {
  known = options;
}

/** Those that are installed. Modules are loaded in any order, so it is to be called in functions. */
export const options = (): readonly WebhookOption[] => known;

/** What saving `input` does to a webhook's options. @throws Refusal: invalid */
export async function changeOptions(
  input: OptionsInput,
  own: Own & { before: StoredOptions },
): Promise<Required<OptionsChange>> {
  const changes = await Promise.all(options().map(({ change }) => change(input, own)));
  return {
    set: Object.assign({}, ...changes.map(({ set }) => set)),
    add: Object.assign({}, ...changes.map(({ add }) => add)),
    shownOnce: Object.assign({}, ...changes.map(({ shownOnce }) => shownOnce)),
  };
}

/** SQL for what becomes of stored options. */
export function changed(before: SQLWrapper, { set = {}, add = {} }: OptionsChange): SQL<string> {
  const cleared = Object.fromEntries(Object.keys(set).map((name) => [name, null]));
  return sql`json_patch(json_patch(json_patch(
    ${JSON.stringify(add)}, ${before}), ${JSON.stringify(cleared)}), ${JSON.stringify(set)})`;
}

/** What is shown once if the options, as they are stored now, are those that a change added. */
export const shownOnceOf = (
  stored: StoredOptions,
  { add, shownOnce }: Required<OptionsChange>,
): OptionsShownOnce =>
  JSON.stringify(stored) === JSON.stringify({ ...stored, ...add }) ? shownOnce : {};

export const shownOptions = async (own: Own, stored: StoredOptions): Promise<ShownOptions> =>
  Object.assign({}, ...(await Promise.all(options().map(({ show }) => show(stored, own)))));

/** SQL for whether a webhook still has what was read as encrypted. */
export const isStill = (
  id: string,
  name: keyof StoredOptions,
  { iv }: { iv: string },
): SQL | undefined => and(eq(webhooks.id, id), eq(sql`${webhooks.options}->${name}->>'iv'`, iv));

/** The statement that stores options of webhooks. */
export const setOptions = (db: Database, set: StoredOptions, which: SQL | undefined) =>
  db
    .update(webhooks)
    .set({ options: changed(webhooks.options, { set }) })
    .where(which);
