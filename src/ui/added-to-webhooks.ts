import type { Child } from 'hono/jsx';
import type { Context } from '../core/platform/http/context.ts';
import type { WebhookInput } from '../core/webhooks/schema.ts';
import type { SavedWebhook } from '../core/webhooks/service.ts';
import type { StoredWebhook } from '../core/webhooks/stored.ts';
import type { IconName } from './icon-names.ts';
import type { FactList, Mood } from './parts.tsx';
import type { SentForm } from './reader.ts';
import type { Column } from './table.tsx';

// What an extra adds to the pages of webhooks: see `Pages` in `added.ts`.

/** What is in the list of webhooks. */
export type OnWebhooks = {
  /** What its columns are about. */
  lead: string;
  columns: Column<{ id: string }>[];
  /** The condition of a webhook; `known` is what is known without it. */
  conditionOf: (webhook: { id: string }, known: Condition) => Condition;
};

/** What is on a webhook's page. */
export type OnWebhook = {
  conditionOf?: (known: Condition) => Condition;
  /** Buttons beside its title. */
  actions?: Child;
  /** Among more actions: first of all, below the pause, and last, to its settings. */
  firstLinks?: Child;
  links?: Child;
  settings?: Child;
  /** Above its configuration. */
  above?: Child;
  /** Values of the same name are one fact. */
  facts?: FactList;
};

/** The condition of a webhook; rank 0 is worst. */
export type Condition = { rank: number; mood: Mood; icon?: IconName; children: Child };

/** What an extra adds to the form of a webhook. */
export type WebhookForm = {
  /** Draws it. A new webhook is undefined. */
  draw: (c: Context, webhook?: StoredWebhook | Promise<StoredWebhook>) => Promise<OnWebhookForm>;
  /** What its button does with what is typed. Then the form is shown again. */
  button?: { does: string; press: (c: Context, input: WebhookInput, id?: string) => Promise<void> };
  /** What the API would take of it in the body. */
  bodyOf?: (form: SentForm, webhook?: StoredWebhook) => object;
  /** The page with what is shown once of a webhook that was saved. */
  shownOnce?: (
    c: Context,
    said: string,
    saved: SavedWebhook,
  ) => Response | Promise<Response> | undefined;
};

/** What is in a webhook's form. */
export type OnWebhookForm = {
  /** Below the types of notifications. */
  samples?: Child;
  /** Below the headers. */
  section?: Child;
  /** How receivers verify calls, besides by a header: "the signature", "unless deliveries are signed". */
  verified?: { by: string; unless: string };
  /** A section that is folded while nothing in it is set. */
  folded?: { id: string; title: string; isSet: boolean; hint: Child; fields: Child };
  /** Above the buttons. */
  last?: Child;
};
