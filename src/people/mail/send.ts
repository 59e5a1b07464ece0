import { config } from '../../core/platform/config.ts';
import { inTime } from '../../core/platform/in-time.ts';

/** Why the email service took no email: its code, such as E_RECIPIENT_SUPPRESSED, without the address; null for none. */
class MailError extends Error {
  readonly code: string | null;
  constructor(code: string | null) {
    super(`The email service refused an email: ${code ?? 'without a code'}`);
    this.code = code;
  }
}

/** Why an email was not sent, for the log: the service's code; otherwise `ours`, an error on our side. */
export const whyNotSent = (error: unknown): { code: string | null; ours?: unknown } =>
  error instanceof MailError ? { code: error.code } : { code: null, ours: error };

/** Sends an email from the address in EMAIL_FROM. @throws MailError; Error, when this deployment sends no email */
export async function sendMail(
  env: Env,
  mail: {
    to: string;
    subject: string;
    text: string;
    html: string;
    headers?: Record<string, string>;
  },
): Promise<void> {
  const { emailFrom } = config(env);
  if (!emailFrom) throw new Error('EMAIL_FROM is not set: this deployment sends no mail');
  const from = { email: emailFrom, name: 'Fleet Data Service' };
  await inTime(env.EMAIL.send({ from, ...mail })).catch((error: unknown) => {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    throw new MailError(/^[A-Z_]{1,60}$/.test(code) ? code : null);
  });
}
