import { receiverProblem } from '../../core/platform/address.ts';
import { config } from '../../core/platform/config.ts';
import { dayMs } from '../../core/platform/durations.ts';
import type { Outcome } from '../../core/webhooks/deliveries/policy.ts';
import { beginningOf, callOnce } from '../../core/webhooks/deliveries/send/call-once.ts';
import { credentialOf, eitherWay, maxSearched, shown } from '../oauth-client.ts';
import type { OAuthClient } from './client.ts';

/** An access token, or why there is none. `inBody`: the endpoint takes the client in the body. */
export type Token = { goodUntil: number; inBody: boolean } & (
  | { value: string; problem?: never }
  | { value?: never; problem: string }
);

/** How long a token endpoint may take, and how much it may return. */
export const tokenTimeoutMs = 5_000;
export const maxTokenBytes = 16 * 1024;

/** After a failure waiting deliveries get the same response for this long. */
const problemKeptMs = 5_000;

/** How long a token is used that does not say when it expires, and at most. */
const usualLifeMs = 5 * 60_000;
const longestLifeMs = dayMs;

/** A token is renewed when a fifth of its life is left, or a minute. */
const spareMs = 60_000;

/** The settings of the service, and what it calls itself. */
type As = { env: Env; userAgent: string };

/** Requests a token the way that the endpoint accepted last, then the other way. */
export async function requestToken(
  as: As,
  client: OAuthClient,
  until: number,
  inBody: boolean,
): Promise<Token> {
  const ways = await eitherWay(
    inBody,
    (way) => ask(as, client, until, way),
    (asked) => asked.value === undefined && asked.isRefusal === true,
  );
  const { last, refused } = ways;
  if (last.value !== undefined) return { ...last, inBody: ways.inBody };
  if (refused?.value !== undefined || !refused) return problem(last.does, inBody);
  const [byBasic, byBody] = inBody ? [last, refused] : [refused, last];
  if (byBasic.does === byBody.does) return problem(byBasic.does, inBody);
  return problem(`${byBasic.does}; with the client in the body it ${byBody.does}`, inBody);
}

/** How much is kept of what went wrong. */
const maxReason = 500;

const problem = (does: string, inBody: boolean): Token => ({
  problem: `token endpoint ${does.slice(0, maxReason)}`,
  goodUntil: Date.now() + problemKeptMs,
  inBody,
});

/** A token, or what the endpoint does instead. A refusal may be of how the client was sent. */
type Asked =
  | { value: string; goodUntil: number }
  | { value?: never; does: string; isRefusal?: boolean };

/** Basic is refused with the first two by the RFC, and with the others by real endpoints. */
const refusals = [400, 401, 403, 415, 422];

async function ask(
  { env, userAgent }: As,
  client: OAuthClient,
  until: number,
  inBody: boolean,
): Promise<Asked> {
  const { tokenUrl, clientId, clientSecret, scope, params } = client;
  const { allowLoopbackReceivers: allowLoopback } = config(env);
  if (receiverProblem(tokenUrl, { allowLoopback })) return { does: blocked };
  const at = Date.now();
  const headers = {
    Accept: 'application/json',
    'Content-Type': 'application/x-www-form-urlencoded',
    'User-Agent': userAgent,
    ...(!inBody && { Authorization: `Basic ${credentialOf(client)}` }),
  };
  const fields = {
    ...params,
    grant_type: 'client_credentials',
    ...(scope && { scope }),
    ...(inBody && { client_id: clientId, client_secret: clientSecret }),
  };
  const init = { method: 'POST', headers, body: new URLSearchParams(fields).toString() };
  const timeoutMs = Math.max(1, Math.min(tokenTimeoutMs, until - at));
  const outcome = await callOnce(tokenUrl, init, timeoutMs, (response) =>
    beginningOf(response, maxTokenBytes, tokenTimeoutMs),
  );
  if (outcome.result === 'token' || !('answer' in outcome))
    return { does: [failures[outcome.result], outcome.reason].filter(Boolean).join(': ') };
  const { result, status, reason } = outcome;
  const granted = result === 'success' ? granting(outcome.answer) : undefined;
  if (granted?.value !== undefined) {
    const life =
      granted.seconds > 0 ? Math.min(granted.seconds * 1000, longestLifeMs) : usualLifeMs;
    return { value: granted.value, goodUntil: Math.round(at + life - Math.min(life / 5, spareMs)) };
  }
  const says = granted?.says ?? (result === 'redirect' ? [] : errorIn(outcome.answer));
  const said = [reason, ...says].map((part) => shown(part, client));
  return {
    does: [`responded ${status}`, ...said.filter(Boolean)].join(': '),
    isRefusal: granted ? granted.isError : refusals.includes(status),
  };
}

/** Types of tokens that need more than a header. All others are bearer tokens. */
const unusable = /^(?:mac|dpop|pop)$/i;

/** The token in a response, or what it has instead, without anything secret. */
function granting(text: string) {
  const fields = fieldsOf(text);
  const { access_token, token_type, expires_in, error } = fields;
  const value = typeof access_token === 'string' ? access_token.trim() : '';
  if (typeof token_type === 'string' && unusable.test(token_type))
    return { says: [`a token of type ${token_type}, which is no bearer token`], isError: false };
  if (/^[!-~]{1,12000}$/.test(value)) return { value, seconds: Number(expires_in) };
  if (typeof error === 'string') return { says: errorIn(text), isError: true };
  if (value !== '') return { says: ['an access_token that no header can hold'], isError: false };
  const names = Object.keys(fields).join(', ');
  return { says: [`no access_token${names && `, but ${names}`}`], isError: false };
}

/** The fields of JSON, or of a form, as some endpoints respond. */
function fieldsOf(text: string): { [name: string]: unknown } {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === 'object' && json !== null ? { ...json } : {};
  } catch {
    return /^\s*\w+=/.test(text) ? Object.fromEntries(new URLSearchParams(text.trim())) : {};
  }
}

/** What a response says is wrong: as the RFC has it, or else in its own way. */
function errorIn(text: string): unknown[] {
  const fields = fieldsOf(text);
  const { error, error_description, message } = fields;
  if (typeof error === 'string') return [error, error_description ?? message];
  const tokens = /token|secret|password|assertion|authorization/i;
  if (Object.keys(fields).length > 0)
    return [JSON.stringify(fields, (name, value) => (tokens.test(name) ? undefined : value))];
  const beginning = text.slice(0, maxSearched);
  return [/<title[^>]*>([^<]*)/i.exec(beginning)?.[1] ?? beginning];
}

const blocked = 'has an address that we do not call';
const failures: { [result in Outcome['result']]?: string } = {
  timeout: 'did not respond in time',
  dns: 'has a host name that cannot be found',
  tls: 'has no certificate that we can trust',
  connection: 'cannot be reached',
};
