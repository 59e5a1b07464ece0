import * as v from 'valibot';
import { type Operation, Uuid } from '../operation.ts';
import { described, id } from '../replies.ts';

export const FoundItem = v.object({
  id,
  name: v.string(),
  licensePlate: v.nullable(v.string()),
  vin: v.nullable(v.string()),
  sourceId: v.string(),
  connection: v.string(),
  accountId: id,
  account: v.string(),
  meant: described(
    v.boolean(),
    'Whether this is its name, plate, VIN or id; otherwise the name is one of those most like it.',
  ),
});
export type FoundItem = v.InferOutput<typeof FoundItem>;

export const tag = ['Incidents', 'What came in, and who was notified of it.'] as const;

export const operations = {
  findInFleet: {
    call: 'GET /fleet/find',
    summary: 'Find vehicles or drivers of all accounts by name, plate, VIN or id',
    description:
      'Give `vehicle` or `driver`. Case, accents, spaces and punctuation do not count. At most 20; if there is none, ' +
      'those with the five names that are most like it.',
    query: v.object({
      vehicle: v.optional(v.string()),
      driver: v.optional(v.string()),
      accountId: v.optional(Uuid),
    }),
    reply: v.array(FoundItem),
  },
} satisfies Record<string, Operation>;
