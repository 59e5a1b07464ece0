import { expect, it } from 'vitest';
import { ask, signIn, textOf } from '../support/portal.ts';
import { operator, world } from '../support/world.ts';

const link = (email: string) => operator.post<{ url: string }>('/operator/sign-in-links', { email });

it('signs people in to the home of their account, by links and cookies that name it', async () => {
  const us = await world({ home: 'eu' });
  const { cookie, link } = await signIn(us);
  expect(link).toMatch(/^\/portal\/sign-in\/eu\.[\w-]{65}$/);
  expect(cookie).toMatch(/session=eu\.[\w-]{65}$/);
  const page = await ask('GET', '/portal/settings/tokens', { cookie });
  expect(page.status).toBe(200);
  expect(await textOf(page)).toContain('Acme Insurance');
});

it('knows no session in a home that it is not of, or that is not there', async () => {
  const { cookie } = await signIn(await world({ home: 'eu' }));
  for (const home of ['mars.', '..', 'eu.eu.']) {
    const page = await ask('GET', '/portal', { cookie: cookie.replace('eu.', home) });
    expect(page.headers.get('location')).toBe('/portal/sign-in');
  }
});

it('lets an address belong to one account, whichever homes have invited it', async () => {
  const [us, them] = [await world({ home: 'eu' }), await world({ home: 'us2' })];
  const email = 'kim@example.com';
  const add = ({ accountId }: typeof us) => operator.post(`/operator/accounts/${accountId}/users`, { email });
  await add(us);
  const { data } = await link(email);
  await add(them);
  expect(await link(email)).toMatchObject({
    status: 400,
    message: 'Several accounts have invited this address',
  });
  const { path: theirs } = await linkTo(them.accountId, email);
  const joined = await ask('POST', new URL(data.url).pathname);
  expect(joined.headers.get('location')).toBe('/portal');
  const refused = await ask('POST', theirs);
  expect(await textOf(refused)).toContain('This link has expired or was already used');
  expect(await add(them)).toMatchObject({
    status: 400,
    errors: [{ message: `belongs to the account ${us.accountId} already` }],
  });
  const ours = await link(email);
  expect(new URL(ours.data.url).pathname).toMatch(/^\/portal\/sign-in\/eu\./);
});

const linkTo = async (accountId: string, email: string) => {
  const { data } = await operator.post<{ url: string }>('/operator/sign-in-links', { email, accountId });
  return { path: new URL(data.url).pathname };
};
