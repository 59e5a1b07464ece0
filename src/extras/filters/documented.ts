import { ACCIDENT, EVENT } from '../../core/webhooks/notifications/types.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { refused } from '../../docs/openapi/lists.ts';
import { wordsOf } from '../../docs/openapi/words.ts';
import { Filters, FiltersOutput, unmatchable } from './filters.ts';

/** Filters that are invalid, or that apply to types the webhook does not subscribe to. */
const wrongFilters = [
  { minEventRisk: 0 },
  { incidentTypes: ['?'] },
  { vehicleGroups: [''] },
  { accidentLevels: [4] },
];
const unmatchableFilters = [
  unmatchable({ minEventRisk: 4 }, [ACCIDENT]),
  unmatchable({ accidentLevels: [1] }, [EVENT]),
].flatMap((error) => (error ? [{ field: error.field, must: error.message }] : []));

const example = { minEventRisk: 4, vehicleGroups: ['North'] };

const filterWords = (name: string) =>
  wordsOf(name, 'A webhook is notified of what passes all its filters.', {
    minEventRisk: 'Safety events of at least this risk. Accidents have none, and pass.',
    incidentTypes: 'Safety events of at least one of these types. Accidents pass.',
    vehicleGroups:
      'Notifications about vehicles in at least one of these groups at that time. An accident of an unknown vehicle passes.',
    accidentLevels: 'These levels of accidents. Safety events pass.',
  });

export const documented: Documented = {
  refusals: [
    ...wrongFilters.map((wrong) => refused('filters', Filters, wrong)),
    ...unmatchableFilters,
  ],
  schemas: { WebhookFilters: FiltersOutput, WebhookFiltersInput: Filters },
  examples: { WebhookFilters: example, WebhookFiltersInput: example },
  words: { ...filterWords('WebhookFilters'), ...filterWords('WebhookFiltersInput') },
};
