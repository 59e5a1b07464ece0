import { env } from 'cloudflare:workers';
import { addressGroup } from '#src/core/platform/http/limits.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import {
  ask,
  changeAccount,
  invalid,
  type Reply,
  signIn,
  times,
  value,
  world,
} from '#test/support.ts';

it.each([
  ['203.0.113.7', '203.0.113.7'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s counts as %s', (address, group) => {
  expect(addressGroup(address)).toBe(group);
});

const minute = () => Math.floor(Date.now() / 60_000);

describe('whoever makes one call more in a minute than a limit allows is refused that one', () => {
  const { TOKEN_LIMIT } = rateLimits;

  it('with an API token, an ingest key or a session, and learns when to go on', {
    tags: ['proof'],
  }, async () => {
    const us = await world();
    const { cookie } = await signIn(us);
    const replies: Reply[] = [];
    /** Makes one call more than the limit. A new minute may begin meanwhile. */
    const refusals = async () => {
      const calls = times(TOKEN_LIMIT.calls + 1, () => us.api.get('/webhooks'));
      replies.push(...(await Promise.all(calls)));
      return replies.filter(({ status }) => status === 429).length;
    };
    const began = minute();
    const first = await refusals();
    if (minute() === began) expect(first).toBe(1);
    else await expect.poll(refusals, { timeout: 30_000 }).toBeGreaterThan(0);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused).toMatchObject({
      message: 'Rate limit exceeded',
      retryAfter: expect.any(Number),
    });
    expect(refused?.headers.get('retry-after')).toBe(String(refused?.retryAfter));
    expect(refused?.retryAfter).toBeLessThanOrEqual(60);
    expect(replies[0]?.headers.get('ratelimit-policy')).toBe(`"token";q=${TOKEN_LIMIT.calls};w=60`);
    vi.spyOn(env.TOKEN_LIMIT, 'limit').mockResolvedValue({ success: false });
    for (const { status } of [
      await us.connector.post('/ingest', ''),
      await ask('GET', '/portal/nowhere', { cookie }),
    ])
      expect(status).toBe(429);
  });

  it('with a token of an account that may make more, once the first call is checked', async () => {
    const us = await world();
    const policy = async () => (await us.api.get('/webhooks')).headers.get('ratelimit-policy');
    const allow = (requestsPerMinute: number | null) => changeAccount(us, { requestsPerMinute });
    const usual = vi.spyOn(env.TOKEN_LIMIT, 'limit');
    const raised = vi.spyOn(env.TOKEN_2400_LIMIT, 'limit');
    const calls = () => [usual, raised].map(({ mock }) => mock.calls.length);
    const message = 'requestsPerMinute must be one of 600, 1200, 2400, 6000';
    expect(await allow(1000)).toMatchObject(invalid(message));
    expect(await allow(2400)).toMatchObject({ data: { quotas: { requestsPerMinute: 2400 } } });
    expect(await policy()).toBe('"token";q=2400;w=60');
    expect(calls()).toEqual([1, 0]);
    expect(await policy()).toBe('"token";q=2400;w=60');
    expect(calls()).toEqual([1, 1]);
    await allow(null);
    expect(await policy()).toBe('"token";q=600;w=60');
    expect(calls()).toEqual([1, 2]);
  });

  it('by asking for links for one email address, who sees no difference', async () => {
    const { email } = await signIn(await world());
    const outcome = async (success: boolean) => {
      const bindings = { ...env, SIGN_IN_LIMIT: { limit: async () => ({ success }) } };
      const reply = await ask('POST', '/portal/sign-in', { fields: { email }, bindings });
      return [await reply.text(), await value('select count(*) from sign_in_links')];
    };
    const [page] = await outcome(true);
    expect(await outcome(false)).toEqual([page, 1]);
  });
});
