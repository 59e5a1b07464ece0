import type { Operation } from '../../docs/openapi/document.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { pathParameter } from '../../docs/openapi/lists.ts';

/** Where a provider's webhook makes a pull due. */
const ring: Operation = {
  call: 'post /providers/{connectionId}/webhook',
  security: 'none',
  summary: "Make a pull due, as the provider's webhook",
  description:
    'Its body is not read: the call counts if the provider has signed it with the secret that was saved.',
  parameters: [pathParameter('connectionId')],
  others: {
    401: { $ref: '#/components/responses/Unauthorized' },
    413: { $ref: '#/components/responses/TooLarge' },
  },
  reply: { name: 'RingReply', message: 'Pull is due', data: { type: 'null' } },
};

export const documented: Documented = {
  ofOperators: { Connections: { ring } },
  words: {
    credential: "The provider's token, or JSON. It is stored encrypted, and never returned.",
    baseUrl:
      "The address of the provider's API, or the name of one of its regions; without it, the usual one.",
    historyDays: 'How many days of history are loaded; 90 unless it is given.',
    secret: "The secret that signs the calls of the provider's webhook.",
    'NewConnectLink.name': 'Its recipient.',
  },
};
