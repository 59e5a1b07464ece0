import { retries } from '../../webhooks/deliveries/policy.ts';
import { type Json, ref } from './components.ts';
import { examples } from './examples.ts';

/** The calls of receivers: the `webhooks` of the document. */
export const deliveries = (): Json => ({
  event: delivery({
    id: 'eventDelivery',
    summary: 'A safety event',
    description:
      'Type 2: one of your vehicles braked hard, nearly crashed, or similar. You are notified of each event once.',
    body: 'EventDelivery',
  }),
  accident: delivery({
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

/** The headers of a call, in addition to those of the webhook; the last three are for signed deliveries. */
const headers: [name: string, required: boolean, description: string, schema: Json][] = [
  [
    'Delivery-Id',
    true,
    'The same on every attempt: use it to ignore repeats.',
    { type: 'string', format: 'uuid' },
  ],
  ['Delivery-Attempt', true, 'The number of this attempt, from 1.', { type: 'integer', minimum: 1 }],
  [
    'User-Agent',
    true,
    'FleetDataService and its version, unless the webhook has a header with this name.',
    { type: 'string', examples: ['FleetDataService/0.1.0'] },
  ],
  ...Object.entries({
    'webhook-id': 'the Delivery-Id',
    'webhook-timestamp': 'when this attempt began, in seconds since 1970',
    'webhook-signature': '`v1,` and an HMAC-SHA256 in base64, for each secret',
  }).map(([name, meaning]): [string, boolean, string, Json] => [
    name,
    false,
    `If deliveries are [signed](/docs/signatures): ${meaning}.`,
    { type: 'string' },
  ]),
];

const later = {
  description: 'Retried later. Retry-After, in seconds or as a date, can double the wait at most.',
};

function delivery({
  id,
  summary,
  description,
  body,
}: Record<'id' | 'summary' | 'description' | 'body', string>): Json {
  return {
    post: {
      operationId: id,
      tags: ['Deliveries'],
      summary,
      description: `${description} ${how}`,
      // A secret among the custom headers, or a signature, authenticates them.
      security: [],
      parameters: headers.map(([name, required, description, schema]) => ({
        name,
        in: 'header',
        required,
        description,
        schema,
      })),
      requestBody: {
        required: true,
        content: { 'application/json': { schema: ref(body), example: examples[body] } },
      },
      responses: {
        '2XX': { description: 'Delivered. At most 4 KiB of the response are read.' },
        410: { description: 'Not wanted: the delivery fails permanently.' },
        429: later,
        503: later,
        default: { description: 'Anything else, including redirects, is a failure and is retried.' },
      },
    },
  };
}
