import {
  personBefore,
  receiver,
  register,
  rows,
  value,
  type WebhookOut,
  webhooksOf,
  worldBefore,
} from '#test/support.ts';

const us = worldBefore(beforeEach);
const { page } = personBefore(beforeEach, us);
let webhook: WebhookOut;

beforeEach(async () => {
  webhook = await register(us, { headers: { 'X-Secret': 's3cret' } });
});

const test = async (URL: string) =>
  (await page(`/portal/webhooks/${webhook.id}/edit`)).press('Send a test', { URL });

it('a button of the form sends a test of what is typed, and saves nothing', async () => {
  const heard = receiver(() => new Response('who are you?', { status: 401 }));
  const before = await webhooksOf(us);
  expect((await test('https://receiver.example.com/tried')).text).toMatch(
    /Your receiver returned 401 Unauthorized in \d+ ms\. Only a 2xx status counts as delivered\. who are you\?/,
  );
  expect(heard.got).toMatchObject([
    {
      url: 'https://receiver.example.com/tried',
      headers: { 'x-secret': 's3cret', 'delivery-id': expect.any(String) },
      body: { type: 2, data: { vehicleName: 'TEST vehicle (made up)' } },
    },
  ]);
  expect(await webhooksOf(us)).toEqual(before);
  expect((await test('https://10.0.0.1/')).status).toBe(400);
  expect(heard.got).toHaveLength(1);
});

it('whoever goes back from a test can save what they typed', async () => {
  receiver();
  const form = await page(`/portal/webhooks/${webhook.id}/edit`);
  const URL = 'https://receiver.example.com/tried';
  await form.press('Send a test', { URL });
  expect((await form.press('Save changes', { URL })).text).toContain('was saved.');
  expect(await webhooksOf(us)).toMatchObject([{ url: URL }]);
});

it.each([
  ['of an account to a host, however it is written', () => `${us.accountId} busy.example.com`, 10],
  ['of all accounts to a receiver', () => 'busy.example.com', 60],
])('a button of the form sends so many tests %s within an hour', async (_, host, most) => {
  const hour = Math.floor(Date.now() / 3_600_000);
  await rows('delete from test_calls');
  const tested = 'insert into test_calls values (?1, ?2, ?3 - 1), (1, ?2, ?3)';
  await rows(tested, hour, host(), most);
  const heard = receiver();
  expect((await test('https://busy.example.com/a')).status).toBe(200);
  const refused = await test('https://BUSY.example.com.:8443/b');
  expect(refused.text).toContain(`has a host that was tested ${most} times within the hour`);
  expect((await test('https://idle.example.com/')).status).toBe(200);
  expect(heard.got).toHaveLength(2);
  expect(await value('select calls from test_calls where host = ?1', host())).toBe(most);
});
