import { version } from '../../../package.json';
import { config } from '../../platform/config.ts';
import { type Sealed, unseal } from '../../platform/crypto.ts';
import { fault } from '../../platform/log.ts';
import { renderMail } from '../../platform/mail.ts';
import { sendMail } from '../../platform/send-mail.ts';
import { receiverProblem } from '../address.ts';
import { callOnce } from '../deliveries/send/call-once.ts';
import type { ChannelKind } from './channel-input.ts';
import { type AlertMessage, channelBody } from './message-formats.ts';
import { failureDescription } from './words.ts';

/** A channel to call. */
export type Target = { id: string; kind: ChannelKind; address: string };

/** Why a message did not arrive, to follow the channel's name; null if it did. */
export type Problem = string | null;

const channelTimeoutMs = 5_000;

/** The URL of the portal, for links in messages. @throws Error, when the origin is not configured */
export function portalOf(env: Env): string {
  const { origin } = config(env);
  if (!origin) throw new Error('ORIGIN is not set, so that emails have no links. Run npm run deploy again.');
  return `${origin}/portal`;
}

/** Sends a message by email. Never throws. */
export async function email(env: Env, to: string, message: AlertMessage): Promise<Problem> {
  const { accountId, account, kind, subject, parts } = message;
  const why =
    kind === 'record'
      ? `you asked for it in ${account}. To change that:`
      : `you can sign in to ${account}. To turn these emails off:`;
  try {
    const { text, html } = await renderMail(subject, parts, {
      text: `You get this email because ${why}`,
      link: { url: `${config(env).origin}/portal/settings/notifications`, label: 'Notifications' },
    });
    await sendMail(env, { to, subject, text, html });
    return null;
  } catch (error) {
    // The error's message may contain the address.
    const code = codeOf(error);
    fault('error', { message: 'An alert could not be sent', accountId, alert: kind, code });
    return `could not be sent: ${code}`;
  }
}

/** The email service's error code, such as E_SENDER_NOT_VERIFIED; null if there is none. */
function codeOf(error: unknown): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  return /^[A-Z_]{1,60}$/.test(code) ? code : null;
}

/** Sends a message to a channel. Never throws. */
export async function post(env: Env, { id, kind, address }: Target, message: AlertMessage): Promise<Problem> {
  const { headerKeys, allowLoopbackReceivers: allowLoopback } = config(env);
  const sealed: Sealed = JSON.parse(address);
  const url = await unseal(headerKeys, id, sealed).then(
    ({ url }) => url,
    () => undefined,
  );
  if (url === undefined) return 'has an address that we can no longer decrypt. Enter it again';
  if (receiverProblem(url, { allowLoopback })) return failureDescription({ result: 'blocked address' });
  const headers = { 'Content-Type': 'application/json', 'User-Agent': `FleetDataService/${version}` };
  const body = channelBody(kind, message, Date.now());
  const outcome = await callOnce(url, { method: 'POST', headers, body }, channelTimeoutMs);
  if (outcome.result === 'success') return null;
  if (outcome.result === 'timeout') return `did not respond within ${channelTimeoutMs / 1000} s`;
  const said = 'answer' in outcome ? outcome.answer.trim() : '';
  // Slack gives the reason as one word, such as `channel_is_archived`. Other text may repeat a secret.
  const { result, status } = outcome; // the address is a secret, and a redirect may repeat it
  return (
    failureDescription({ result, status }, 'returned') + (/^[a-z_]{3,60}$/.test(said) ? `: ${said}` : '')
  );
}
