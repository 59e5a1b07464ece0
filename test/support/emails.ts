import { env } from 'cloudflare:workers';

export type Email = Record<'to' | 'subject' | 'text' | 'html', string> & {
  headers: Record<string, string>;
};

/** Keeps the emails that the service sends. */
export function keepEmails() {
  const send = vi.spyOn(env.EMAIL, 'send').mockResolvedValue({ messageId: '1' });
  return { send, sent: () => send.mock.calls.map(([email]) => email as Email) }; // as mail.ts sends it
}
