import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import { expect, it, vi } from 'vitest';
import { app } from '../../../src/app.ts';
import { listenToLog } from '../../support/log.ts';
import { value } from '../../support/rows.ts';
import { operator, world } from '../../support/world.ts';

/** Asks for a sign-in link, as the form does, from a deployment with these variables. */
async function askForLink(variables: object, email: string): Promise<Response> {
  const url = 'https://portal.example.com/portal/sign-in';
  const request = new Request(url, {
    method: 'POST',
    headers: { origin: new URL(url).origin },
    body: new URLSearchParams({ email }),
  });
  const context = createExecutionContext();
  const reply = await app.fetch(request, { ...env, ...variables }, context);
  await waitOnExecutionContext(context);
  return reply;
}

const withoutSender = { EMAIL_FROM: undefined, EMAIL: undefined };

it('a deployment without a sender shows the same page, and makes no link that nobody would get', async () => {
  const us = await world();
  const email = 'ann@example.com';
  await operator.post(`/operator/accounts/${us.accountId}/users`, { email });
  const send = vi.spyOn(env.EMAIL, 'send').mockResolvedValue({ messageId: '1' });
  const withMail = await askForLink({}, email);
  expect(send).toHaveBeenCalledOnce();
  send.mockClear();
  const { lines } = listenToLog();
  const withoutMail = await askForLink(withoutSender, email);
  expect([withoutMail.status, await withoutMail.text()]).toEqual([200, await withMail.text()]);
  expect(send).not.toHaveBeenCalled();
  const links = await value('select count(*) as n from sign_in_links');
  expect(links).toBe(1); // of the first request
  expect(lines('fault')).toEqual([]);
});
