import * as v from 'valibot';
import { type Sealed, seal, unseal } from '../../core/platform/crypto.ts';
import { invalidField } from '../../core/platform/errors.ts';
import { AtMost, Texts } from '../../core/platform/fields.ts';

const Visible = (longest: number) =>
  v.pipe(
    v.string(),
    AtMost(longest),
    v.check((text) => /^[ -~]+$/.test(text), 'must be visible ASCII characters'),
  );

/** How many parameters a token request can have, and how long: rows are small. */
export const paramLimits = { max: 10, name: 60, value: 500, bytes: 2048 };

/** Parameters that we set. */
const reserved = /^(?:grant_type|client_id|client_secret|scope)$/i;

const Params = v.pipe(
  Texts,
  v.check(
    (map) => Object.keys(map).length <= paramLimits.max,
    `can have at most ${paramLimits.max} entries`,
  ),
  v.check(
    (map) => JSON.stringify(map).length <= paramLimits.bytes,
    'can be at most 2 KiB in total',
  ),
  v.check(
    (map) => Object.keys(map).every((name) => /^[\w.:~-]{1,60}$/.test(name)),
    `names must be letters, digits and - . _ : ~, at most ${paramLimits.name}`,
  ),
  v.check(
    (map) => !Object.keys(map).some((name) => reserved.test(name)),
    'must not name grant_type, client_id, client_secret or scope',
  ),
  v.check(
    (map) => Object.values(map).every((value) => /^[ -~]{1,500}$/.test(value)),
    `values must be 1 to ${paramLimits.value} visible ASCII characters`,
  ),
  v.metadata({
    type: 'object',
    maxProperties: paramLimits.max,
    additionalProperties: { type: 'string', maxLength: paramLimits.value },
  }),
);

const Shown = {
  tokenUrl: v.pipe(Visible(2048), v.metadata({ format: 'uri' })),
  clientId: Visible(500),
  scope: v.optional(Visible(1000)),
};

/** The client that gets a webhook's access tokens, by OAuth 2 client credentials. */
export const OAuthInput = v.strictObject({
  ...Shown,
  clientSecret: v.optional(Visible(2000)),
  params: v.optional(Params),
});
export type OAuthInput = v.InferOutput<typeof OAuthInput>;

export const OAuth = v.object({ ...Shown, params: v.optional(v.record(v.string(), v.string())) });
export type OAuth = v.InferOutput<typeof OAuth>;

export type OAuthClient = OAuth & { clientSecret: string };

/** Encrypts a client, with the secret of before if need be. @throws Refusal: invalid */
export async function sealClient(
  env: Env,
  webhookId: string,
  { tokenUrl, clientId, scope, clientSecret, params = {} }: OAuthInput,
  before?: Sealed | null,
): Promise<Sealed> {
  const kept =
    before && clientSecret === undefined ? await openClient(env, webhookId, before) : undefined;
  const isSame = kept?.tokenUrl === tokenUrl && kept.clientId === clientId;
  const secret = clientSecret ?? (isSame ? kept.clientSecret : undefined);
  if (secret === undefined) throw invalidField('oauth.clientSecret', 'is required');
  return seal(env, webhookId, {
    ...{ tokenUrl, clientId, clientSecret: secret },
    ...(scope && { scope }),
    ...(Object.keys(params).length > 0 && { params: JSON.stringify(params) }),
  });
}

/** Decrypts a client. @throws Error, as `unseal` does */
export async function openClient(
  env: Env,
  webhookId: string,
  sealed: Sealed,
): Promise<OAuthClient> {
  const { params, ...client } = await unseal(env, webhookId, sealed);
  return { ...client, ...(params && { params: JSON.parse(params) }) } as OAuthClient; // as `sealClient` made it
}
