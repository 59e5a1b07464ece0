import * as v from 'valibot';
import type { Sealed } from '../../core/platform/crypto.ts';
import type { WebhookField, WebhookOption } from '../../core/webhooks/options.ts';
import { authorizer } from './access-token.ts';
import { OAuth, OAuthInput, openClient, sealClient } from './client.ts';

const field = {
  description:
    'The OAuth 2 client whose access token each delivery carries, as `Authorization: Bearer …`. Its `clientSecret` is ' +
    'never returned; left out, it stays as it is while `tokenUrl` and `clientId` do. Without `oauth` all of it stays ' +
    'as it is; null removes it.',
  example: undefined,
  input: v.optional(v.nullable(OAuthInput)),
  output: v.optional(OAuth),
} satisfies WebhookField;

declare module '../../core/webhooks/options.ts' {
  interface WebhookOptions {
    oauth: typeof field;
  }
}

declare module '../../core/platform/db/schema/webhooks.ts' {
  interface StoredOptions {
    /** The client that gets access tokens. */
    oauth?: Sealed | null;
    /** The last of them. */
    oauthToken?: Sealed | null;
  }
}

/** Calls with access tokens of an OAuth 2 client. */
export const oauth: WebhookOption = {
  name: 'oauth',
  field,
  isLarge: true,
  encrypted: ['oauth', 'oauthToken'],

  calls: ({ oauth }) => (oauth ? { field: 'oauth.tokenUrl', url: oauth.tokenUrl } : undefined),

  async change({ oauth }, { env, webhookId, before }) {
    if (oauth === undefined) return {};
    const client = oauth && (await sealClient(env, webhookId, oauth, before.oauth));
    return { set: { oauth: client, oauthToken: null } };
  },

  async show({ oauth }, { env, webhookId }) {
    if (!oauth) return {};
    const { clientSecret: _, ...shown } = await openClient(env, webhookId, oauth);
    return { oauth: shown };
  },

  withoutSecrets({ oauth }) {
    if (!oauth) return {};
    const { params: _, ...shown } = oauth;
    return { oauth: shown };
  },

  async prepareCalls({ oauth, oauthToken }, own) {
    if (!oauth) return {};
    return { authorize: await authorizer(own, oauth, oauthToken) };
  },
};
