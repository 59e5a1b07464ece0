import { retries } from '../../core/webhooks/deliveries/policy.ts';
import type { Json } from './components.ts';
import { requestBody } from './document.ts';
import { examples } from './examples.ts';

/** The calls of receivers: the `webhooks` of the document. `more` are headers that options add. */
export const deliveries = (more: Json[]): Json => ({
  event: delivery(more, {
    id: 'eventDelivery',
    summary: 'A safety event',
    description:
      'Type 2: one of your vehicles braked hard, nearly crashed, or similar. You are notified of each event once.',
    body: 'EventDelivery',
  }),
  accident: delivery(more, {
    id: 'accidentDelivery',
    summary: 'A level of an accident',
    description:
      'Type 1: 1 first detection, 2 verified, 3 report-ready. You are notified of each level once, in no ' +
      'guaranteed order; all levels of one accident share `eventId`.',
    body: 'AccidentDelivery',
  }),
});

const how =
  'POST, or PUT if the webhook says so, with the custom headers of the webhook. ' +
  `Respond within ${retries.timeoutSeconds} seconds. Failed attempts are retried after about ${retries.waitsAsText}. ` +
  `Accidents are retried sooner at first: after ${retries.accidentWaits}.`;

/** A header of a call. */
export const header = (name: string, description: string, schema: Json, required = true): Json => ({
  name,
  in: 'header',
  required,
  description,
  schema,
});

/** The headers of a call besides the webhook's. */
const headers = [
  header('Delivery-Id', 'The same on every attempt: use it to ignore repeats.', {
    type: 'string',
    format: 'uuid',
  }),
  header('Delivery-Attempt', 'The number of this attempt, from 1.', {
    type: 'integer',
    minimum: 1,
  }),
  header(
    'User-Agent',
    'FleetDataService and its version, unless the webhook has a header with this name.',
    {
      type: 'string',
      examples: ['FleetDataService/0.1.0'],
    },
  ),
];

const later = {
  description: 'Retried later. Retry-After, in seconds or as a date, can double the wait at most.',
};

type Call = Record<'id' | 'summary' | 'description' | 'body', string>;

function delivery(more: Json[], { id, summary, description, body }: Call): Json {
  return {
    post: {
      operationId: id,
      tags: ['Deliveries'],
      summary,
      description: `${description} ${how}`,
      // A secret among the custom headers, or a signature, authenticates them.
      security: [],
      parameters: [...headers, ...more],
      requestBody: requestBody(body, examples),
      responses: {
        '2XX': { description: 'Delivered. At most 4 KiB of the response are read.' },
        410: { description: 'Not wanted: the delivery fails permanently.' },
        429: later,
        503: later,
        default: {
          description: 'Anything else, including redirects, is a failure and is retried.',
        },
      },
    },
  };
}
