import { ref } from '../../docs/openapi/components.ts';
import { header } from '../../docs/openapi/deliveries.ts';
import type { Documented } from '../../docs/openapi/documented.ts';
import { action } from '../../docs/openapi/webhooks.ts';
import { SigningSecret } from './option.ts';

export const documented: Documented = {
  operations: {
    Webhooks: {
      rotateSigningSecret: {
        ...action('signing-secret'),
        summary: 'Rotate the signing secret',
        description:
          'Gives a webhook with signed deliveries a new secret. Both secrets sign for 24 hours.',
        reply: {
          name: 'SigningSecretReply',
          message: 'Signing secret rotated',
          data: ref('SigningSecret'),
        },
        refusals: ['Deliveries of this webhook are not signed'],
      },
    },
  },
  headers: Object.entries({
    'webhook-id': 'the Delivery-Id',
    'webhook-timestamp': 'when this attempt began, in seconds since 1970',
    'webhook-signature': '`v1,` and an HMAC-SHA256 in base64, for each secret',
  }).map(([name, meaning]) =>
    header(
      name,
      `If deliveries are [signed](/docs/signatures): ${meaning}.`,
      { type: 'string' },
      false,
    ),
  ),
  schemas: { SigningSecret },
  examples: {
    SigningSecret: { signingSecret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSwMfKQ9r8GKYo=' },
  },
  words: {
    SigningSecret: 'A new signing secret.',
    signingSecret:
      'What deliveries are signed with: `whsec_` and 32 bytes in base64. Shown only once.',
  },
};
