import { env, exports } from 'cloudflare:workers';
import { partBytes } from '#src/extras/evidence/download.ts';
import { issueLimited, rows, world } from '#test/support.ts';
import { copyAll, crash, evidenceWorld, filesOf, linked, media, video } from './support.ts';

const us = evidenceWorld();

const bytes = video(1000);
let id: string;
let file: string;
beforeEach(async () => {
  media({ '/road.mp4': bytes });
  ({ id } = await crash(us));
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
    'content-type': 'video/mp4',
    'content-length': '1000',
    'accept-ranges': 'bytes',
    'content-disposition': `attachment; filename="video-${file.slice(0, 8)}.mp4"`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "sandbox; default-src 'none'",
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

it('a stored file is read by range while another is copied, of which one part at a time is in memory', {
  tags: ['proof'],
}, async () => {
  const [sizes, statuses] = [new Set<number>(), [] as number[]];
  const resume = env.ARCHIVE.resumeMultipartUpload.bind(env.ARCHIVE);
  vi.spyOn(env.ARCHIVE, 'resumeMultipartUpload').mockImplementation((...named) => {
    const upload = resume(...named);
    const uploadPart = upload.uploadPart.bind(upload);
    upload.uploadPart = async (number, part) => {
      const { byteLength, buffer } = part as Uint8Array; // as the copy sends it
      sizes.add(byteLength).add(buffer.byteLength);
      statuses.push((await get('bytes=990-')).status);
      return uploadPart(number, part);
    };
    return upload;
  });
  media({ '/other.mp4': video(3 * partBytes) });
  await crash(us, [linked('/other.mp4')]);
  await copyAll(us);
  expect([statuses, ...sizes]).toEqual([[206, 206, 206], partBytes]);
  expect(await filesOf(us, id)).toMatchObject([{ state: 'stored' }, { state: 'stored' }]);
});

it('a stored file is for tokens of its account and connection alone', async () => {
  const [own, other] = await Promise.all(
    us.connections.map(({ id }) => issueLimited(us.accountId, [id])),
  );
  const tokens = [own, other, (await world()).apiToken, us.connection.ingestKey];
  const statuses = tokens.map(async (token) => (await get(undefined, token)).status);
  expect(await Promise.all(statuses)).toEqual([200, 404, 404, 403]);
});

it('the audit log has once an hour who opened a stored file', async () => {
  for (const range of [undefined, 'bytes=0-1', 'bytes=5-9']) await (await get(range)).arrayBuffer();
  const opened = () =>
    rows(
      `select actor_name, fields from audit_log where account_id = ?1 and fields like '%opened%'`,
      us.accountId,
    );
  const fields = JSON.stringify([`evidence opened: accident ${id}, file ${file}`]);
  expect(await opened()).toEqual([{ actor_name: 'main', fields }]);
  const hourAgo = Date.now() - 3_700_000;
  await rows(`update evidence set opened = json_object(?1, ?2)`, us.tokenId, hourAgo);
  await (await get()).arrayBuffer();
  expect(await opened()).toHaveLength(2);
});
