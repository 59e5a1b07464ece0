import { env } from 'cloudflare:workers';
import { addressGroup } from '#src/core/platform/http/limits.ts';
import { rateLimits } from '#src/core/platform/rate-limits.ts';
import { ask, signIn } from '#test/support/portal.ts';
import { rows } from '#test/support/rows.ts';
import { operator, type Reply, world } from '#test/support/world.ts';

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
  const { TOKEN_LIMIT, LINK_REQUEST_LIMIT, SIGN_IN_LIMIT } = rateLimits;

  /** Makes one call more than the limit, by somebody who has made none. A new minute may begin meanwhile. */
  async function refusedAfter(limit: number, make: () => Promise<{ status: number }>) {
    const refused = async () => {
      const replies = await Promise.all(Array.from({ length: limit + 1 }, make));
      return replies.filter(({ status }) => status === 429).length;
    };
    const began = minute();
    const first = await refused();
    if (minute() === began) expect(first).toBe(1);
    else await expect.poll(refused, { timeout: 30_000 }).toBeGreaterThan(0);
  }

  it('with an API token, an ingest key or a session, and learns when to go on', async () => {
    const us = await world();
    const { cookie } = await signIn(us);
    const replies: Reply[] = [];
    await refusedAfter(TOKEN_LIMIT.calls, async () => {
      const reply = await us.api.get('/webhooks');
      replies.push(reply);
      return reply;
    });
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
    const path = `/operator/accounts/${us.accountId}`;
    const policy = async () => (await us.api.get('/webhooks')).headers.get('ratelimit-policy');
    const allow = (requestsPerMinute: number | null) => operator.patch(path, { requestsPerMinute });
    const usual = vi.spyOn(env.TOKEN_LIMIT, 'limit');
    const raised = vi.spyOn(env.TOKEN_2400_LIMIT, 'limit');
    const calls = () => [usual, raised].map(({ mock }) => mock.calls.length);
    expect(await allow(1000)).toMatchObject({
      status: 400,
      message: 'requestsPerMinute must be one of 600, 1200, 2400, 6000',
    });
    expect(await allow(2400)).toMatchObject({ data: { quotas: { requestsPerMinute: 2400 } } });
    expect(await policy()).toBe('"token";q=2400;w=60');
    expect(calls()).toEqual([1, 0]);
    expect(await policy()).toBe('"token";q=2400;w=60');
    expect(calls()).toEqual([1, 1]);
    await allow(null);
    expect(await policy()).toBe('"token";q=600;w=60');
    expect(calls()).toEqual([1, 2]);
  });

  it('by asking for sign-in links, from one address', async () => {
    const headers = { 'cf-connecting-ip': '203.0.113.11' };
    await refusedAfter(LINK_REQUEST_LIMIT.calls, () => ask('POST', '/portal/sign-in', { headers }));
  });

  it('by asking for links for one email address, who sees no difference', async () => {
    const us = await world();
    const [ours, other] = [await signIn(us), await signIn(us)];
    const request = (email: string) => ask('POST', '/portal/sign-in', { fields: { email } });
    const links = (email: string) =>
      rows(
        'select 1 from sign_in_links where user_id = (select id from portal_users where email = ?1)',
        email,
      );
    const began = minute();
    for (let i = 0; i <= SIGN_IN_LIMIT.calls; i++) await request(ours.email);
    await request(other.email);
    await expect.poll(() => links(other.email), { timeout: 10_000 }).toHaveLength(1);
    const sent = (await links(ours.email)).length;
    expect(minute() === began ? sent : SIGN_IN_LIMIT.calls).toBe(SIGN_IN_LIMIT.calls);
  });
});
