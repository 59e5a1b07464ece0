import { env } from 'cloudflare:workers';
import { sql } from 'drizzle-orm';
import { maxDayBytes } from '#src/extras/evidence/add.ts';
import { copiesAreDue, copyEvidence, startCopies } from '#src/extras/evidence/copy.ts';
import { maxFileBytes } from '#src/extras/evidence/copy-file.ts';
import { partBytes } from '#src/extras/evidence/download.ts';
import { files } from '#test/extras/archive/support.ts';
import { allChanges, changes } from '#test/extras/changes/support.ts';
import {
  dayMs,
  hourMs,
  metered,
  openDatabase,
  rows,
  through,
  times,
  transaction,
  value,
  world,
} from '#test/support.ts';
import {
  copyAll,
  copyPart,
  crash,
  evidenceWorld,
  filesOf,
  firstByte,
  keepFor,
  linked,
  media,
  mediaOrigin,
  partOf,
  returning,
  video,
} from './support.ts';

const us = evidenceWorld();

/** A stored file of these bytes. */
const stored = async (bytes: Uint8Array<ArrayBuffer>) => ({
  state: 'stored',
  sha256: new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).toHex(),
});

/** A crash comes in whose video is served so. */
function crashWith(serve: (request: Request) => Response) {
  media({ '/road.mp4': serve });
  return crash(us);
}

/** Copies what is due, and says what became of each file of an accident. */
async function copied(id: string) {
  await copyAll(us);
  const files = await filesOf(us, id);
  return files.map(({ state, reason }) => (reason ? `${state}: ${reason}` : state)).sort();
}
const nextAt = () => value<number>('select next_at from evidence');

/** A response that announces other bytes than it has. */
const announced = (length: number, sent: number) =>
  new Response(video(sent), { headers: { 'content-length': String(length) } });

describe('a file that an accident links to', () => {
  it('is copied in parts, and listed with its checksum; the feed tells of it, and the report is ours', async () => {
    const bytes = video(2 * partBytes + 1000);
    const { asked } = media({ '/road.mp4': bytes });
    const takenAt = '2026-11-20T20:00:00.000Z';
    const link = linked('/road.mp4?X-Amz-Signature=abc', { camera: 'Road', takenAt });
    const { id } = await crash(us, [link], { reportUrl: `${mediaOrigin}/road.mp4` });
    const { resume } = await changes(us.apiToken, 'cursor=now');
    expect(await filesOf(us, id)).toMatchObject([
      { state: 'waiting', bytes: null, storedAt: null },
    ]);
    await copyAll(us);
    const [file] = await filesOf(us, id);
    expect(file).toMatchObject({
      kind: 'video',
      camera: 'Road',
      takenAt,
      reason: null,
      contentType: 'video/mp4',
      bytes: bytes.length,
      ...(await stored(bytes)),
    });
    expect(Date.parse(String(file?.expiresAt))).toBeGreaterThan(Date.now() + 89 * dayMs);
    expect(asked).toEqual(['/road.mp4']);
    const reportUrl = `https://portal.example.com/portal/accidents/${id}#evidence`;
    expect(await allChanges(us.apiToken, `cursor=${resume}`)).toMatchObject([
      { data: { eventId: id, reportUrl } },
    ]);
    expect(await rows('select source, upload, next_at from evidence')).toEqual([
      { source: null, upload: null, next_at: null },
    ]);
  });

  it('is neither copied nor a change of its accident unless its account keeps evidence', async () => {
    await keepFor(us, null);
    const count = () => value<number>('select count(*) from changes');
    const before = await count();
    await crash(us);
    const { id } = await crash(us);
    expect(await count()).toBe(before + 1);
    expect([await filesOf(us, id), await rows('select 1 from evidence')]).toEqual([[], []]);
  });

  it('goes on where it was when its connection breaks, an invocation ends, or one is killed', {
    tags: ['proof'],
  }, async () => {
    const bytes = video(3 * partBytes);
    let sent = 0;
    const broken = (request: Request) => {
      const from = firstByte(request);
      const headers = { 'content-range': `bytes */${bytes.length}` };
      if (from === bytes.length) return new Response(null, { status: 416, headers });
      sent += from > 0 ? bytes.length - from : 1.5 * partBytes;
      if (from > 0) return partOf(bytes, from);
      return new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(bytes.slice(0, 1.5 * partBytes)),
          pull: (controller) => controller.error(new Error('connection lost')),
        }),
      );
    };
    const { id } = await crashWith(broken);
    // Each invocation has so few queries left that it ends after a part.
    for (let runs = 0; runs < 8; runs++) await copyPart(us);
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([await stored(bytes)]);
    expect(sent).toBeLessThan(5 * partBytes);
  });

  it('is copied from a server without ranges, or to which nobody has told its length', async () => {
    const bytes = video(2 * partBytes + 5);
    const { id } = await crashWith(() => new Response(new Blob([bytes]).stream()));
    await copyPart(us); // a part, and then all again
    await copyAll(us);
    expect(await filesOf(us, id)).toMatchObject([await stored(bytes)]);
  });

  it('is copied again as a whole if its server has another version by now, or sends another part', {
    tags: ['proof'],
  }, async () => {
    const before = video(2 * partBytes + 1000);
    const after = before.map((byte, i) => (i < 24 ? byte : ~byte));
    const asked: (string | null)[] = [];
    const changes = ({ headers }: Request) => {
      const range = headers.get('range');
      asked.push(range && `${range} if ${headers.get('if-range')}`);
      if (asked.length === 1) return tagged(partOf(before, 0), '"1"');
      return tagged(partOf(after, range ? partBytes : 0), '"2"'); // a server that takes no heed of If-Range
    };
    const shifts = ({ headers }: Request) =>
      partOf(after, headers.has('range') ? partBytes + 1 : 0);
    for (const serve of [changes, shifts]) {
      await rows('delete from evidence');
      const { id } = await crashWith(serve);
      await copyPart(us);
      expect(await value(`select json_array_length(upload, '$.parts') from evidence`)).toBe(1);
      await copyAll(us);
      expect(await filesOf(us, id)).toMatchObject([await stored(after)]);
    }
    expect(asked).toEqual([null, `bytes=${partBytes}- if "1"`, null]);
  });

  const tagged = (response: Response, tag: string) => {
    response.headers.set('etag', tag);
    return response;
  };

  it('is given up if its server has another version each time', { tags: ['proof'] }, async () => {
    let asked = 0;
    const bytes = video(2 * partBytes);
    const serve = (request: Request) => {
      const { status, headers } = partOf(bytes, firstByte(request));
      const part = bytes.subarray(firstByte(request), 1.5 * partBytes);
      return tagged(new Response(part, { status, headers }), `"${asked++}"`);
    };
    const { id } = await crashWith(serve);
    for (let tries = 0; tries < 16; tries++) await copyAll(us);
    expect(await copied(id)).toEqual(['missed: The connection ended early']);
    expect(asked).toBeLessThan(30);
  });

  it.each([
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
    const { id } = await crashWith(serve);
    expect(await copied(id)).toEqual([`waiting: ${reason}`]);
  });

  it('is kept once, whatever unknown names its link is signed by', async () => {
    media({ '/road.mp4': video(100), '/other.mp4': video(101) });
    const links = ['/road.mp4?token=1', '/road.mp4?token=2', '/other.mp4'].map((path) =>
      linked(path),
    );
    const { id } = await crash(us, [...links, linked('/road.mp4?token=1', { camera: 'Cab' })]);
    await copyAll(us);
    const found = (await filesOf(us, id)).map(({ bytes, camera }) => `${bytes} ${camera}`);
    expect(found.sort()).toEqual(['100 Cab', '100 null', '101 null']);
    expect(await files(`evidence/account=${us.accountId}`)).toHaveLength(3);
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
      return returning(403)();
    };
    const slow = 'https://slow.example.com';
    media({ '/hangs': hangs, '/road.mp4': video(100) }, [mediaOrigin, slow]);
    await crash(
      us,
      times(20, (i) => linked('', { url: `${slow}/hangs?file=${i}` })),
    );
    const { id } = await crash(us, undefined, { sourceId: 'another' });
    const copying = copyEvidence(env, us.accountId, { until: Date.now() + 5_000, queries: 30 });
    await expect.poll(() => filesOf(us, id)).toMatchObject([{ state: 'stored' }]);
    expect([waiting, most]).toEqual([1, 1]);
    resolve();
    await copying;
    expect(most).toBe(1);
  });

  it('is copied at once also if another of its server ends while the next one is looked for', async () => {
    media({ '/road.mp4': video(100), '/cab.mp4': video(101) });
    const { id } = await crash(us, [linked('/road.mp4'), linked('/cab.mp4')]);
    const copied = () => value(`select count(*) from evidence where upload ->> 'bytes' > 0`);
    let claims = 0;
    const DB = through(env.DB, async (run, statements) => {
      const isClaim = statements.some(({ text }) => text.includes('recursive lanes'));
      if (isClaim && ++claims === 2) await expect.poll(copied).toBe(1);
      return run();
    });
    await copyEvidence({ ...env, DB }, us.accountId);
    const stored = { state: 'stored' };
    expect(await filesOf(us, id)).toMatchObject([stored, stored]);
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
    const { id } = await crash(us, [linked('/a'), linked('/c'), linked('/d')]);
    const missed = 'missed: Its address is not allowed';
    expect(await copied(id)).toEqual([missed, missed, 'stored']);
  });

  it('is missed if it is larger than 200 MB, before any of it is read', async () => {
    const { id } = await crashWith(() => announced(maxFileBytes + 1, 100));
    expect(await copied(id)).toEqual(['missed: The file has more than 200 MB']);
  });

  it('is missed if the accident has more than 1 GB with what others that are being copied will have', async () => {
    const large = () => announced(maxFileBytes, 100);
    media({ '/first': large, '/second': large, '/third': () => announced(100, 99) });
    const { id } = await crash(us, [linked('/first')]);
    await copyAll(us);
    await rows('update evidence set next_at = ?1', Date.now() + dayMs);
    await crash(us, [linked('/gone')]);
    await storeAs('%gone', 700_000_000);
    await crash(us, [linked('/second'), linked('/third')]);
    await copyEvidence(env, us.accountId);
    expect((await filesOf(us, id)).map(({ reason }) => reason).sort()).toEqual([
      'The accident has more than 1 GB',
      'The connection ended early',
      'The connection ended early',
      null,
    ]);
  });

  /** Makes it seem that a file with so many bytes was stored. */
  const storeAs = (source: string, bytes: number) =>
    rows(
      `update evidence set state = 'stored', next_at = null, bytes = ?1 where source like ?2`,
      bytes,
      source,
    );

  it('waits for the next day if the account has had 50 GB today', async () => {
    media();
    await crash(us, [linked('/before')], { sourceId: 'another' });
    await storeAs('%before', maxDayBytes - 50);
    const { id } = await crash(us);
    expect(await copied(id)).toEqual(['waiting: The account has more than 50 GB today']);
    await rows('update evidence set created_at = created_at - ?1 where bytes > 100', dayMs);
    expect(await copied(id)).toEqual(['stored']);
  });

  it('is missed once its link is dead, until it is sent again an hour later, or another one is', async () => {
    const files: Parameters<typeof media>[0] = { '/road.mp4': returning(403) };
    media(files);
    const resend = (signature = 1) => crash(us, [linked(`/road.mp4?sig=${signature}`)]);
    const { id } = await resend();
    const missed = ['missed: The server returned 403: the link has expired'];
    expect(await copied(id)).toEqual(missed);
    const began = Date.now();
    await resend();
    expect(await nextAt()).toBeGreaterThan(began + hourMs - 60_000);
    expect(await copied(id)).toEqual(missed);
    await rows('update evidence set ended_at = ended_at - ?1', hourMs);
    await resend();
    expect(await nextAt()).toBeLessThanOrEqual(Date.now());
    expect(await copied(id)).toEqual(missed);
    files['/road.mp4'] = video(100);
    await resend(2);
    expect(await nextAt()).toBeLessThanOrEqual(Date.now());
    expect(await copied(id)).toEqual(['stored']);
  });

  it('is tried again ever later while its server fails, and given up after three days', async () => {
    const { id } = await crashWith(returning(503));
    for (const minutes of [1, 2, 4]) {
      expect(await copied(id)).toEqual(['waiting: The server returned 503']);
      expect(Math.round(((await nextAt()) - Date.now()) / 60_000)).toBe(minutes);
    }
    await rows('update evidence_days set since = 0');
    await rows('update evidence set created_at = created_at - ?1', 3 * dayMs);
    expect(await copied(id)).toEqual(['missed: The server returned 503']);
  });

  it('of another account delays none, and each has an invocation of its own', async () => {
    const them = await world();
    await keepFor(them, 30);
    const { promise, resolve } = Promise.withResolvers<Response>();
    media({ '/hangs': () => promise, '/road.mp4': video(100) });
    await crash(them, [linked('/hangs')]);
    const { id } = await crash(us);
    const { env: bindings, woken } = metered();
    await startCopies(bindings);
    const each = [us, them].map(({ accountId }) => ({ copy: accountId }));
    expect(new Set(woken)).toEqual(new Set(each));
    const theirs = copyEvidence(env, them.accountId, { until: Date.now() + 1, queries: 100 });
    expect(await copied(id)).toEqual(['stored']);
    resolve(returning(403)());
    await theirs;
  });

  it('is due only while its account is active and keeps evidence', async () => {
    await crash(us);
    const db = openDatabase(env);
    for (const [change, due] of [
      ["update accounts set status = 'suspended' where id = ?1", 0],
      ["update accounts set status = 'active' where id = ?1", 1],
      ['delete from evidence_days where account_id = ?1', 0],
    ] as const) {
      await rows(change, us.accountId);
      const found = db.all(sql`select ${copiesAreDue(Date.now())} as due`);
      expect(await transaction(db, found)).toEqual([{ due }]);
    }
  });
});
