import { config } from './config.ts';

/** Sends an email from the address in EMAIL_FROM. @throws Error, when this deployment sends no email */
export async function sendMail(
  env: Env,
  mail: { to: string; subject: string; text: string; html: string },
): Promise<void> {
  const { emailFrom } = config(env);
  if (!emailFrom) throw new Error('EMAIL_FROM is not set: this deployment sends no mail');
  await env.EMAIL.send({ from: { email: emailFrom, name: 'Fleet Data Service' }, ...mail });
}
