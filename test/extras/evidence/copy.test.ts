import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { transaction } from '#src/core/platform/db/database.ts';
import { openDatabase } from '#src/core/platform/db/system.ts';
import { dayMs, hourMs } from '#src/core/platform/durations.ts';
import { copiesAreDue, copyEvidence, startCopies } from '#src/extras/evidence/copy.ts';
import { maxFileBytes } from '#src/extras/evidence/copy-file.ts';
import { partBytes } from '#src/extras/evidence/download.ts';
import { maxDayBytes, maxDayFiles, maxEver } from '#src/extras/evidence/evidence.ts';
import { allChanges, changes } from '#test/extras/changes/support.ts';
import {
  copyAll,
  crash,
  filesOf,
  keepFor,
  linked,
  media,
  mediaOrigin,
  partOf,
  video,
} from '#test/extras/evidence/support.ts';
import { rows, value } from '#test/support/rows.ts';
import { world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
beforeEach(async () => {
  await rows('delete from evidence');
  await keepFor(us, 90);
});

const sha256 = async (bytes: Uint8Array<ArrayBuffer>) =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex();

/** A response that announces other bytes than it has. */
const announced = (length: number, sent: number) =>
  new Response(video(sent), { headers: { 'content-length': String(length) } });

describe('a file that an accident links to', () => {
  it('is copied in parts, and listed with its checksum; the feed tells of it, and the report is ours', async () => {
    const bytes = video(2 * partBytes + 1000);
    const { asked } = media({ '/road.mp4': bytes });
    const link = linked('/road.mp4?X-Amz-Signature=abc', {
      camera: 'Road',
      takenAt: '2026-11-20T20:00:00Z',
    });
    const { id } = await crash(us, [link], { reportUrl: `${mediaOrigin}/road.mp4` });
    const { resume } = await changes(us.apiToken, 'cursor=now');
    expect(await filesOf(us, id)).toMatchObject([
      { kind: 'video', state: 'waiting', bytes: null, storedAt: null },
    ]);
    await copyAll(us);
    const [file] = await filesOf(us, id);
    expect(file).toMatchObject({
      ...{
        kind: 'video',
        camera: 'Road',
        takenAt: '2026-11-20T20:00:00.000Z',
        state: 'stored',
        reason: null,
      },
      ...{ contentType: 'video/mp4', bytes: bytes.length, sha256: await sha256(bytes) },
    });
    expect(Date.parse(String(file?.expiresAt))).toBeGreaterThan(Date.now() + 89 * dayMs);
    expect(asked).toEqual(['/road.mp4']);
    const [accident] = (await allChanges(us.apiToken, `cursor=${resume}`)).map(({ data }) => data);
    expect(accident).toMatchObject({ eventId: id });
    expect(accident?.reportUrl).toBe(`https://portal.example.com/portal/accidents/${id}#evidence`);
    const [stored] = await rows('select source, upload, next_at from evidence');
    expect(stored).toEqual({ source: null, upload: null, next_at: null });
  });

  it.each([
    ['doc=1&X-Amz-Signature=b', true],
    ['doc=2&X-Amz-Signature=b', false],
    ['doc=1', true],
  ])(
    'is where its accident has its report, if that is the same document: %s',
    async (query, isSame) => {
      media({ '/report': '%PDF-1.7' });
      const link = linked('/report?doc=1&X-Amz-Signature=a', { kind: 'document' });
      const reportUrl = `${mediaOrigin}/report?${query}`;
      const { id } = await crash(us, [link], { reportUrl });
      await copyAll(us);
      expect((await us.api.get<{ reportUrl: string }>(`/accidents/${id}`)).data.reportUrl).toBe(
        isSame ? `https://portal.example.com/portal/accidents/${id}#evidence` : reportUrl,
      );
    },
  );

  it('is not copied unless its account keeps evidence', async () => {
    await keepFor(us, null);
    media({});
    const { id } = await crash(us, [linked('/road.mp4')]);
    expect(await filesOf(us, id)).toEqual([]);
    expect(await rows('select 1 from evidence')).toEqual([]);
  });

  it('goes on where it was when its connection breaks, an invocation ends, or one is killed', async () => {
    const bytes = video(3 * partBytes);
    let sent = 0;
    const broken = (request: Request) => {
      const from = Number(/\d+/.exec(request.headers.get('range') ?? '')?.[0] ?? 0);
      const of = `/${bytes.length}`;
      if (from === bytes.length)
        return new Response(null, { status: 416, headers: { 'content-range': `bytes *${of}` } });
      const end = from === 0 ? 1.5 * partBytes : bytes.length;
      const chunks = [bytes.slice(from, end)];
      sent += end - from;
      const body = new ReadableStream({
        pull(controller) {
          const chunk = chunks.pop();
          if (chunk) controller.enqueue(chunk);
          else if (end < bytes.length) controller.error(new Error('connection lost'));
          else controller.close();
        },
      });
      const headers = { 'content-range': `bytes ${from}-${end - 1}${of}` };
      return from > 0 ? new Response(body, { status: 206, headers }) : new Response(body);
    };
    media({ '/road.mp4': broken });
    const { id } = await crash(us, [linked('/road.mp4')]);
    // Each invocation has so few queries left that it ends after a part.
    for (let runs = 0; runs < 8; runs++)
      await copyEvidence(env, us.accountId, { until: Date.now() + 60_000, queries: 4 });
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'stored', sha256: await sha256(bytes) }]);
    expect(sent).toBeLessThan(5 * partBytes);
  });

  it('is copied from a server without ranges, or to which nobody has told its length', async () => {
    const bytes = video(2 * partBytes + 5);
    const whole = () => new Response(new Blob([bytes]).stream());
    media({ '/road.mp4': whole });
    const { id } = await crash(us, [linked('/road.mp4')]);
    await copyEvidence(env, us.accountId, { until: Date.now() + 60_000, queries: 4 }); // a part, and then all again
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'stored', sha256: await sha256(bytes) }]);
  });

  it('is copied again as a whole if its server has another version by now, or sends another part', async () => {
    const [before, after] = [
      video(2 * partBytes + 1000),
      video(2 * partBytes + 1000).map((byte) => ~byte),
    ];
    after.set(before.subarray(0, 24));
    const asked: (string | null)[] = [];
    const tagged = (bytes: Uint8Array<ArrayBuffer>, from: number, tag: string) => {
      const response = partOf(bytes, from);
      response.headers.set('etag', tag);
      return response;
    };
    const changes = ({ headers }: Request) => {
      const [range, tag] = [headers.get('range'), headers.get('if-range')];
      asked.push(range && `${range} if ${tag}`);
      if (asked.length === 1) return tagged(before, 0, '"1"');
      return tagged(after, range ? partBytes : 0, '"2"'); // a server that takes no heed of If-Range
    };
    const shifts = ({ headers }: Request) =>
      partOf(after, headers.has('range') ? partBytes + 1 : 0);
    for (const serve of [changes, shifts]) {
      await rows('delete from evidence');
      media({ '/road.mp4': serve });
      const { id } = await crash(us, [linked('/road.mp4')]);
      await copyEvidence(env, us.accountId, { until: Date.now() + 60_000, queries: 4 });
      expect(await value(`select json_array_length(upload, '$.parts') from evidence`)).toBe(1);
      await copyAll(us);
      expect(await filesOf(us, id)).toMatchObject([
        { state: 'stored', sha256: await sha256(after) },
      ]);
    }
    expect(asked).toEqual([null, `bytes=${partBytes}- if "1"`, null]);
  });

  it('is given up if its server has another version each time', async () => {
    let asked = 0;
    const bytes = video(2 * partBytes);
    const serve = ({ headers }: Request) => {
      const from = Number(/\d+/.exec(headers.get('range') ?? '')?.[0] ?? 0);
      const { status, headers: said } = partOf(bytes, from);
      said.set('etag', `"${asked++}"`);
      return new Response(bytes.subarray(from, 1.5 * partBytes), { status, headers: said });
    };
    media({ '/road.mp4': serve });
    const { id } = await crash(us, [linked('/road.mp4')]);
    for (let tries = 0; tries < 16; tries++) await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([
      { state: 'missed', reason: 'The connection ended early' },
    ]);
    expect(asked).toBeLessThan(30);
  });

  it.each([
    ['a part that nobody asked for', () => partOf(video(1000), 0, true), 'The server returned 206'],
    ['less than it announced', () => announced(1000, 999), 'The connection ended early'],
    [
      'more than it announced',
      () => announced(1000, 1001),
      'The server sent more than it announced',
    ],
    ['202', () => new Response(video(100), { status: 202 }), 'The server returned 202'],
    [
      'that it is not ready',
      () => Response.json({ status: 'processing' }),
      'The file is not ready',
    ],
  ])('is tried again if its server sends %s', async (_, serve, reason) => {
    media({ '/road.mp4': serve });
    const { id } = await crash(us, [linked('/road.mp4')]);
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'waiting', reason }]);
  });

  it('is kept once, whatever unknown names its link is signed by', async () => {
    const same = video(100);
    media({ '/road.mp4': same, '/other.mp4': video(101) });
    const links = ['/road.mp4?token=1', '/road.mp4?token=2', '/other.mp4'].map((path) =>
      linked(path),
    );
    const { id } = await crash(us, [...links, linked('/road.mp4?token=1', { camera: 'Cab' })]);
    const { resume } = await changes(us.apiToken, 'cursor=now');
    await copyAll(us);
    const files = await filesOf(us, id);
    expect(files.map(({ bytes, camera }) => [bytes, camera])).toEqual(
      expect.arrayContaining([
        [100, null],
        [101, null],
        [100, 'Cab'],
      ]),
    );
    expect(files).toHaveLength(3);
    expect(
      (await env.ARCHIVE.list({ prefix: `evidence/account=${us.accountId}` })).objects,
    ).toHaveLength(3);
    expect(await allChanges(us.apiToken, `cursor=${resume}`)).not.toEqual([]);
    await crash(us, links);
    expect(await filesOf(us, id)).toHaveLength(3);
  });

  it('is not delayed by others of a slow server, one of which is copied at a time', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    let [waiting, most] = [0, 0];
    const hangs = async () => {
      most = Math.max(most, ++waiting);
      await promise;
      waiting--;
      return new Response('', { status: 403 });
    };
    const slow = 'https://slow.example.com';
    media({ '/hangs': hangs, '/road.mp4': video(100) }, [mediaOrigin, slow]);
    await crash(
      us,
      Array.from({ length: 20 }, (_, i) => linked('', { url: `${slow}/hangs?file=${i}` })),
    );
    const { id } = await crash(us, [linked('/road.mp4')], { sourceId: 'another' });
    const copying = copyEvidence(env, us.accountId, { until: Date.now() + 5_000, queries: 30 });
    await vi.waitFor(
      async () => expect(await filesOf(us, id)).toMatchObject([{ state: 'stored' }]),
      5_000,
    );
    expect([waiting, most]).toEqual([1, 1]);
    resolve();
    await copying;
    expect(most).toBe(1);
  });

  it('is followed to where the link redirects, but not to this network', async () => {
    const to = (location: string) => () =>
      new Response(null, { status: 302, headers: { location } });
    media({
      '/a': to('/b'),
      '/b': video(100),
      '/c': to('https://10.0.0.1/x'),
      '/d': to('http://media.example.com/b'),
    });
    const { id } = await crash(
      us,
      ['/a', '/c', '/d'].map((path) => linked(path)),
    );
    await copyAll(us);
    const states = (await filesOf(us, id)).map(({ state, reason }) => `${state} ${reason}`);
    expect(states.toSorted()).toEqual([
      ...Array(2).fill('missed Its address is not allowed'),
      'stored null',
    ]);
  });

  it.each([
    ['video', '<html><script>alert(1)</script></html>', 'The file is no video of a known type'],
    ['photo', video(100), 'The file is no photo of a known type'],
    ['document', '{"a": 1}', 'The file is no document of a known type'],
    [
      'telemetry',
      '<svg xmlns="http://www.w3.org/2000/svg">, </svg>',
      'The file is no telemetry of a known type',
    ],
    ['telemetry', 'time,speed\n1,2\n', null],
    ['photo', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]), null],
  ])('as %s is what its first bytes say: %o', async (kind, file, reason) => {
    media({ '/file': file });
    const { id } = await crash(us, [linked('/file', { kind })]);
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: reason ? 'missed' : 'stored', reason }]);
  });

  it('is missed if it is larger than 200 MB, or the accident has more than 1 GB, before any of it is read', async () => {
    const large = (size: number) => () =>
      new Response(video(100), { headers: { 'content-length': String(size) } });
    media({ '/large': large(maxFileBytes + 1), '/more': large(2_000) });
    const { id } = await crash(us, [linked('/large')]);
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([
      { state: 'missed', reason: 'The file has more than 200 MB' },
    ]);
    await rows(`update evidence set state = 'stored', bytes = 999999000`);
    await crash(us, [linked('/more')]);
    await copyAll(us);
    expect(await filesOf(us, id)).toContainEqual(
      expect.objectContaining({ state: 'missed', reason: 'The accident has more than 1 GB' }),
    );
  });

  it('is missed if the accident has more than 1 GB with what others that are being copied will have', async () => {
    const large = () => announced(maxFileBytes, 100);
    media({ '/first': large, '/second': large, '/third': () => announced(100, 99) });
    const { id } = await crash(us, [linked('/first')]);
    await copyAll(us);
    await rows('update evidence set next_at = ?1', Date.now() + dayMs);
    await crash(us, [linked('/gone')]);
    await rows(
      `update evidence set state = 'stored', next_at = null, bytes = ?1 where source like '%gone'`,
      700_000_000,
    );
    await crash(us, [linked('/second'), linked('/third')]);
    await copyEvidence(env, us.accountId);
    expect((await filesOf(us, id)).map(({ reason }) => reason).toSorted()).toEqual([
      'The accident has more than 1 GB',
      'The connection ended early',
      'The connection ended early',
      null,
    ]);
  });

  it('waits for the next day if the account has had 50 GB today', async () => {
    media({ '/road.mp4': video(100) });
    const { id } = await crash(us, [linked('/road.mp4'), linked('/before')]);
    await rows(
      `update evidence set state = 'stored', next_at = null, bytes = ?1 where source like '%before'`,
      maxDayBytes - 50,
    );
    await rows(`update evidence set accident_id = 'another' where source like '%before'`);
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([
      { state: 'waiting', reason: 'The account has more than 50 GB today' },
    ]);
    await rows(
      `update evidence set created_at = created_at - ?1 where source like '%before'`,
      dayMs,
    );
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'stored' }]);
  });

  it('is missed once its link is dead, until it is sent again an hour later, or another one is', async () => {
    const files: Parameters<typeof media>[0] = {
      '/road.mp4': () => new Response('', { status: 403 }),
    };
    media(files);
    const { id } = await crash(us, [linked('/road.mp4?sig=1')]);
    await copyAll(us);
    const reason = 'The server returned 403: the link has expired';
    expect(await filesOf(us, id)).toMatchObject([{ state: 'missed', reason }]);
    const began = Date.now();
    await crash(us, [linked('/road.mp4?sig=1')]);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'waiting', reason: null }]);
    expect(await value<number>('select next_at from evidence')).toBeGreaterThan(
      began + hourMs - 60_000,
    );
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'missed', reason }]);
    await rows('update evidence set ended_at = ended_at - ?1', hourMs);
    await crash(us, [linked('/road.mp4?sig=1')]);
    expect(await value<number>('select next_at from evidence')).toBeLessThanOrEqual(Date.now());
    await copyAll(us);
    files['/road.mp4'] = video(100);
    await crash(us, [linked('/road.mp4?sig=2')]);
    expect(await value<number>('select next_at from evidence')).toBeLessThanOrEqual(Date.now());
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'stored' }]);
  });

  it('is tried again ever later while its server fails, and given up after three days', async () => {
    media({ '/road.mp4': () => new Response('', { status: 503 }) });
    const { id } = await crash(us, [linked('/road.mp4')]);
    const waits = [];
    for (let tries = 0; tries < 3; tries++) {
      await copyAll(us);
      const nextAt = await value<number>('select next_at from evidence');
      waits.push(Math.round((nextAt - Date.now()) / 60_000));
    }
    expect(waits).toEqual([1, 2, 4]);
    expect(await filesOf(us, id)).toMatchObject([
      { state: 'waiting', reason: 'The server returned 503' },
    ]);
    await rows('update evidence_days set since = 0');
    await rows('update evidence set created_at = created_at - ?1', 3 * dayMs);
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([
      { state: 'missed', reason: 'The server returned 503' },
    ]);
  });

  it('of another account delays none, and each has an invocation of its own', async () => {
    const them = await world();
    await keepFor(them, 30);
    const { promise, resolve } = Promise.withResolvers<Response>();
    media({ '/hangs': () => promise, '/road.mp4': video(100) });
    await crash(
      them,
      Array.from({ length: 20 }, (_, i) => linked(`/hangs?file=${i}`)),
    );
    const { id } = await crash(us, [linked('/road.mp4')]);
    const sent: unknown[] = [];
    const DELIVERIES = {
      sendBatch: async (all: Iterable<{ body: unknown }>) =>
        void sent.push(...[...all].map(({ body }) => body)),
    };
    await startCopies({ ...env, DELIVERIES: DELIVERIES as never });
    expect(sent).toHaveLength(2);
    expect(sent).toEqual(
      expect.arrayContaining([{ copy: us.accountId }, { copy: them.accountId }]),
    );
    const theirs = copyEvidence(env, them.accountId, { until: Date.now() + 1, queries: 100 });
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([{ state: 'stored' }]);
    resolve(new Response('', { status: 403 }));
    await theirs;
  });

  it('is due only while its account is active and keeps evidence', async () => {
    media({});
    await crash(us, [linked('/road.mp4')]);
    const db = openDatabase(env);
    const isDue = async () => {
      const due = db.all<{ due: number }>(sql`select ${copiesAreDue(Date.now())} as due`);
      return (await transaction(db, due))[0]?.due;
    };
    expect(await isDue()).toBe(1);
    await rows(`update accounts set status = 'suspended' where id = ?1`, us.accountId);
    expect(await isDue()).toBe(0);
    await rows(`update accounts set status = 'active' where id = ?1`, us.accountId);
    await rows('delete from evidence_days where account_id = ?1', us.accountId);
    expect(await isDue()).toBe(0);
  });
});

describe('the links of a record', () => {
  it('are at most 20 of an accident, in however many records', async () => {
    media({});
    const links = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => linked(`/${from + i}.mp4`));
    const { warnings } = await crash(us, links(0, 21));
    expect(warnings).toMatchObject([
      { field: 'evidence', message: expect.stringContaining('at most 20 files') },
    ]);
    const { id } = await crash(us, links(15, 15));
    expect(await filesOf(us, id)).toHaveLength(20);
  });

  it('are at most 5,000 of an account in a day, and 100 of an accident in all', async () => {
    media({});
    const { id } = await crash(us, [linked('/first.mp4')]);
    const add = (count: number, accident: string) =>
      rows(
        `with recursive n (i) as (select 1 union all select i + 1 from n where i < ?1)
       insert into evidence (id, account_id, connection_id, accident_id, kind, lane, state, created_at)
       select ?2 || i, ?3, ?4, ?2, 'video', '', 'gone', ?5 from n`,
        count,
        accident,
        us.accountId,
        us.connection.id,
        Date.now(),
      );
    await add(maxDayFiles - 2, 'another');
    await crash(us, [linked('/first.mp4'), linked('/second.mp4'), linked('/third.mp4')]);
    expect(await filesOf(us, id)).toHaveLength(2);
    await rows('delete from evidence');
    await add(maxEver - 1, id);
    await crash(us, [linked('/first.mp4'), linked('/second.mp4')]);
    expect(await filesOf(us, id)).toHaveLength(1);
  });

  it('to one file are one, the last, with a warning', async () => {
    const { asked } = media({ '/road.mp4': video(100) });
    const links = ['?sig=1', '?sig=2'].map((signature) => linked(`/road.mp4${signature}`));
    const { id, warnings } = await crash(us, links);
    expect(warnings).toMatchObject([
      {
        field: 'evidence.url',
        message: 'leads to the same file as a later link, which replaced it',
      },
    ]);
    expect(await value('select source from evidence')).toMatch(/sig=2$/);
    await copyAll(us);
    expect(await filesOf(us, id)).toHaveLength(1);
    expect(asked).toHaveLength(1);
  });

  it('that cannot be used are dropped with a warning, and the rest is kept', async () => {
    media({});
    const {
      id,
      accepted,
      warnings = [],
    } = await crash(us, [
      linked('/good.mp4', { takenAt: 'yesterday', camera: 7 }),
      { kind: 'video', url: 'http://media.example.com/plain.mp4' },
      { kind: 'hologram', url: `${mediaOrigin}/x` },
      linked('', { url: 'https://127.0.0.1.nip.internal/x' }),
      'https://media.example.com/text.mp4',
    ]);
    expect(accepted).toBe(1);
    expect(new Set(warnings.map(({ field }) => field.split('.')[0]))).toEqual(
      new Set(['evidence']),
    );
    expect(warnings.map(({ message }) => message)).toContain(
      'must be a public address; it was dropped',
    );
    expect(await filesOf(us, id)).toMatchObject([{ camera: '7', takenAt: null }]);
  });

  it('cost an accident without any, or of an account that keeps none, not one row', async () => {
    await keepFor(us, null);
    media({});
    const count = () => value<number>('select count(*) from changes');
    const before = await count();
    await crash(us, [linked('/road.mp4')]);
    await crash(us, [linked('/road.mp4')]);
    expect(await count()).toBe(before + 1);
  });
});
