import * as v from 'valibot';
import type { Sealed } from '../../core/platform/crypto.ts';
import type { WebhookField, WebhookOption } from '../../core/webhooks/options.ts';
import { newSecret, sealSecret, signatureHeaders, signingKeys } from './secrets.ts';

const field = {
  description:
    'Whether its deliveries are signed, as Standard Webhooks are. The response that turns this on has the ' +
    '`signingSecret`, only once. If left out, it stays as it is.',
  example: undefined,
  input: v.optional(v.boolean('must be true or false')),
  output: v.optional(v.literal(true)),
} satisfies WebhookField;

export const SigningSecret = v.object({ signingSecret: v.string() });

declare module '../../core/webhooks/options.ts' {
  interface WebhookOptions {
    signing: typeof field;
  }
  interface ShownOnce {
    signingSecret: typeof SigningSecret.entries.signingSecret;
  }
}

declare module '../../core/platform/db/schema/webhooks.ts' {
  interface StoredOptions {
    /** The secrets that sign calls. */
    signing?: Sealed | null;
  }
}

/** Signatures of calls, as Standard Webhooks has them. */
export const signing: WebhookOption = {
  name: 'signing',
  field,
  shownOnce: SigningSecret.entries,
  encrypted: ['signing'],

  async change({ signing }, { env, webhookId, before }) {
    if (signing === false) return { set: { signing: null } };
    if (!signing || before.signing) return {};
    const signingSecret = newSecret();
    const sealed = await sealSecret(env, webhookId, signingSecret);
    return { add: { signing: sealed }, shownOnce: { signingSecret } };
  },

  show: ({ signing }) => (signing ? { signing: true } : {}),

  async prepareCalls({ signing }, { env, webhookId }) {
    if (!signing) return {};
    const keys = await signingKeys(env, webhookId, signing);
    return { headersOf: (call) => signatureHeaders(keys, call) };
  },
};
