import { env } from 'cloudflare:workers';
import { checkDomains } from '#src/extras/single-sign-on/dns.ts';
import { proof, provenAfter } from '#src/extras/single-sign-on/domain-checks.ts';
import { addRows, dayMs, ownRows, receiver, rows, value, worldBefore } from '#test/support.ts';

const now = Date.now();

it.each([
  [13, false, -13],
  [14, false, null],
  [100, true, 0],
])(
  'a proof of %d days ago whose record is found: %s, is then of day %s',
  (days, isFound, expected) => {
    const next = provenAfter(now - days * dayMs, isFound, now);
    expect(next).toBe(expected === null ? null : now + expected * dayMs);
  },
);

describe('a proven domain', () => {
  const us = worldBefore(beforeEach);
  let domain: string;
  let reply: () => Response;
  let asked: string[];
  const naming = (account: string) =>
    Response.json({ Status: 0, Answer: [{ type: 16, data: `"account=${account}"` }] });
  const found = () => naming(us.accountId);
  beforeEach(async () => {
    await rows('delete from sign_in_domains');
    domain = `d-${us.accountId}.example.com`;
    asked = [];
    await rows(
      "insert into single_sign_on values (?1, 'https://login.example.com', 'c', '{}', null, '')",
      us.accountId,
    );
    await rows('insert into sign_in_domains values (?1, ?2, ?3, ?3)', us.accountId, domain, now);
    receiver().serves('https://cloudflare-dns.com', ({ url }) => {
      asked.push(new URL(url).searchParams.get('name') ?? '');
      return reply();
    });
  });
  const provenAt = () =>
    value<number | null>('select proven_at from sign_in_domains where domain = ?1', domain);
  const days = (count: number) => now + count * dayMs;

  it('is checked again each week', async () => {
    reply = found;
    await checkDomains(env, days(7) - 1);
    expect(asked).toEqual([]);
    for (const day of [7, 8, 14]) await checkDomains(env, days(day));
    expect(asked).toEqual(Array(2).fill(`_fleet-data-service.${domain}`));
    expect(await provenAt()).toBe(days(14));
  });

  it.each([
    ['has no record', () => Response.json({ Status: 3 })],
    ['names another account', () => naming('other')],
    ['cannot be resolved', () => Response.json({ Status: 2 })],
    ['does not respond', () => Response.error()],
  ])('whose DNS %s is asked each day, and expires after two weeks', async (_, says) => {
    reply = says;
    for (const day of [7, 7.5, 8, 13]) await checkDomains(env, days(day));
    expect([asked.length, await provenAt()]).toEqual([3, now]);
    await checkDomains(env, days(14));
    expect(await provenAt()).toBeNull();
    const fields = JSON.stringify([`no longer proven: ${domain}`]);
    expect((await ownRows(us, 'audit_log')).at(-1)).toMatchObject({ actor: 'service', fields });
    asked = [];
    await checkDomains(env, days(30));
    expect(asked).toEqual([]);
  });

  it('is not checked while its account is suspended', async () => {
    reply = found;
    await rows("update accounts set status = 'suspended' where id = ?1", us.accountId);
    await checkDomains(env, days(8));
    expect([asked, await provenAt()]).toEqual([[], now]);
  });

  it('of many is checked, whatever the others are', async () => {
    reply = () => Response.json({ Status: 3 });
    await addRows('sign_in_domains', 45, (i) => ({
      account_id: us.accountId,
      domain: `n${i}.${domain}`,
      proven_at: now,
      checked_at: now,
    }));
    await checkDomains(env, now + proof.expiresMs);
    expect(new Set(asked).size).toBe(46);
    expect(await rows('select 1 from sign_in_domains where proven_at is not null')).toEqual([]);
  });
});
