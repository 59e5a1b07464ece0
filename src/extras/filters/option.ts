import * as v from 'valibot';
import { type Failure, Refusal } from '../../core/platform/errors.ts';
import type { WebhookField, WebhookOption } from '../../core/webhooks/options.ts';
import {
  Filters,
  FiltersOutput,
  letsThrough,
  type StoredFilters,
  stored,
  unmatchable,
} from './filters.ts';
import { isLetThrough } from './let-through.ts';

const field = {
  description:
    'Which of the notifications that it subscribes to it receives; without filters, all. If left out, they stay as ' +
    'they are; null or an object without properties removes them.',
  example: undefined,
  input: v.optional(v.nullable(Filters)),
  output: v.optional(FiltersOutput),
} satisfies WebhookField;

declare module '../../core/webhooks/options.ts' {
  interface WebhookOptions {
    filters: typeof field;
  }
}

declare module '../../core/platform/db/schema/webhooks.ts' {
  interface StoredOptions {
    filters?: StoredFilters | null;
  }
}

const withoutType: Failure = {
  kind: 'invalid',
  message: 'The filters of this webhook need a notification type that is left out',
  errors: [{ field: 'notificationTypes', message: 'must include what the filters are about' }],
};

/** Filters: a webhook is notified only of what passes all of them. */
export const filters: WebhookOption = {
  name: 'filters',
  field,
  isLarge: true,
  filter: {
    letsThrough: ({ filters }, notification) => letsThrough(filters, notification),
    isLetThrough,
  },

  problemOf: ({ filters, notificationTypes }) => unmatchable(filters, notificationTypes),

  change({ filters, notificationTypes }, { before }) {
    if (filters !== undefined) return { set: { filters: stored(filters) } };
    if (unmatchable(before.filters, notificationTypes)) throw new Refusal(withoutType);
    return {};
  },

  show: ({ filters }) => ({ ...filtersOf(filters) }),
};

/** Filters as the API shows them. */
export function filtersOf(stored: StoredFilters | null | undefined): { filters?: Filters } {
  if (!stored) return {};
  const { groupKeys: _, ...filters } = stored;
  return { filters };
}
