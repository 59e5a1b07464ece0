import { env, exports } from 'cloudflare:workers';
import { partBytes } from '#src/extras/evidence/download.ts';
import {
  copyAll,
  crash,
  filesOf,
  keepFor,
  linked,
  media,
  video,
} from '#test/extras/evidence/support.ts';
import { rows } from '#test/support/rows.ts';
import { issueLimited, world, worldBefore } from '#test/support/world.ts';

const us = worldBefore(beforeEach, { providers: ['motive', 'samsara'] });
beforeEach(async () => {
  await rows('delete from evidence');
  await keepFor(us, 90);
});

const bytes = video(1000);
let id: string;
let file: string;
beforeEach(async () => {
  media({ '/road.mp4': bytes });
  ({ id } = await crash(us, [linked('/road.mp4')]));
  await copyAll(us);
  file = String((await filesOf(us, id))[0]?.id);
});
const get = (range?: string, token = us.apiToken) =>
  exports.default.fetch(
    new Request(`https://api.example.com/accidents/${id}/evidence/${file}`, {
      headers: { 'x-api-key': token, ...(range && { range }) },
    }),
  );

it('a stored file is sent whole, or by the range that is asked for, so that a browser runs nothing of it', async () => {
  const whole = await get();
  expect(Object.fromEntries(whole.headers)).toMatchObject({
    ...{ 'content-type': 'video/mp4', 'content-length': '1000', 'accept-ranges': 'bytes' },
    ...{ 'content-disposition': `attachment; filename="video-${file.slice(0, 8)}.mp4"` },
    ...{
      'x-content-type-options': 'nosniff',
      'content-security-policy': "sandbox; default-src 'none'",
    },
  });
  expect(new Uint8Array(await whole.arrayBuffer())).toEqual(bytes);
  for (const [range, from, to] of [
    ['0-9', 0, 10],
    ['990-', 990, 1000],
    ['-5', 995, 1000],
    ['5-9999', 5, 1000],
  ] as const) {
    const part = await get(`bytes=${range}`);
    expect([part.status, part.headers.get('content-range')]).toEqual([
      206,
      `bytes ${from}-${to - 1}/1000`,
    ]);
    expect(new Uint8Array(await part.arrayBuffer())).toEqual(bytes.subarray(from, to));
  }
  expect((await get('bytes=1000-')).status).toBe(416);
});

it('a stored file is read by range while another is copied, of which one part at a time is in memory', async () => {
  const other = video(3 * partBytes);
  const sizes: number[] = [];
  const parts: number[] = [];
  const resumeMultipartUpload = (key: string, uploadId: string) => {
    const upload = env.ARCHIVE.resumeMultipartUpload(key, uploadId);
    const uploadPart = async (number: number, part: Uint8Array) => {
      sizes.push(part.byteLength, part.buffer.byteLength);
      parts.push((await get('bytes=990-')).status);
      return upload.uploadPart(number, part);
    };
    return { uploadPart, complete: (all: R2UploadedPart[]) => upload.complete(all) };
  };
  const ARCHIVE = new Proxy(env.ARCHIVE, {
    get: (target, name) =>
      name === 'resumeMultipartUpload'
        ? resumeMultipartUpload
        : Reflect.get(target, name).bind(target),
  });
  media({ '/other.mp4': other });
  await crash(us, [linked('/other.mp4')]);
  await copyAll(us, { ...env, ARCHIVE });
  expect(parts).toEqual([206, 206, 206]);
  expect(new Set(sizes)).toEqual(new Set([partBytes]));
  expect((await filesOf(us, id)).map(({ state }) => state)).toEqual(['stored', 'stored']);
});

it('a stored file is for tokens of its connection, if they are limited', async () => {
  const [own, other] = await Promise.all(
    us.connections.map((connection) => issueLimited(us.accountId, [connection.id])),
  );
  expect([(await get(undefined, own)).status, (await get(undefined, other)).status]).toEqual([
    200, 404,
  ]);
});

it('a stored file is for tokens of its account alone, and the audit log has once an hour who opened it', async () => {
  const them = await world();
  expect((await get(undefined, them.apiToken)).status).toBe(404);
  expect((await get(undefined, us.connection.ingestKey)).status).toBe(403);
  for (const range of [undefined, 'bytes=0-1', 'bytes=5-9']) await (await get(range)).arrayBuffer();
  const opened = () =>
    rows(
      `select actor_name, fields from audit_log where account_id = ?1 and fields like '%opened%'`,
      us.accountId,
    );
  expect(await opened()).toEqual([
    {
      actor_name: 'main',
      fields: JSON.stringify([`evidence opened: accident ${id}, file ${file}`]),
    },
  ]);
  await rows(
    `update evidence set opened = json_object(?1, ?2)`,
    us.tokenId,
    Date.now() - 3_700_000,
  );
  await (await get()).arrayBuffer();
  expect(await opened()).toHaveLength(2);
});
