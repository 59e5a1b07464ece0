import { env } from 'cloudflare:workers';
import { copyEvidence } from '#src/extras/evidence/copy.ts';
import {
  accident,
  changeAccount,
  receiver,
  rows,
  unwoken,
  type World,
  worldBefore,
} from '#test/support.ts';

export const mediaOrigin = 'https://media.example.com';

export type FileOut = {
  id: string;
  kind: string;
  state: string;
  bytes: number;
  sha256: string;
  reason: string | null;
} & Record<string, unknown>;

/** Has the account keep evidence for so many days, or none. */
export const keepFor = (us: World, evidenceDays: number | null) =>
  changeAccount<{ evidenceDays: number | null }>(us, { evidenceDays });

/** An account with two connections that keeps evidence, of which there is none yet. */
export function evidenceWorld() {
  const us = worldBefore(beforeEach, 'motive', 'samsara');
  beforeEach(async () => {
    await rows('delete from evidence');
    await keepFor(us, 90);
    media({});
  });
  return us;
}

/** The bytes of an MP4 of that size, of which no two parts are equal. */
export function video(size: number) {
  const bytes = Uint8Array.from({ length: size }, (_, i) => (i >> 16) ^ i);
  bytes.set(new TextEncoder().encode('\0\0\0\x10ftypisom\0\0\0\0\0\0\0\0mdat'));
  return bytes;
}

/** Serves files by their path, with ranges, or `/road.mp4`; a function responds itself. Returns what was asked for, with its range. */
export function media(
  files: {
    [path: string]: BodyInit | ((request: Request) => Response | Promise<Response>);
  } = { '/road.mp4': video(100) },
  origins = [mediaOrigin],
) {
  const asked: string[] = [];
  const serve = async (request: Request) => {
    const { pathname } = new URL(request.url);
    const range = request.headers.get('range');
    asked.push([pathname, range].filter(Boolean).join(' '));
    const file = files[pathname];
    if (typeof file === 'function') return file(request);
    if (file === undefined) return new Response('gone', { status: 404 });
    const bytes = new Uint8Array(await new Response(file).arrayBuffer());
    return partOf(bytes, firstByte(request), range !== null);
  };
  const servers = receiver();
  for (const origin of origins) servers.serves(origin, serve);
  return { asked };
}

/** The first byte of a file that is asked for. */
export const firstByte = ({ headers }: Request) =>
  Number(/\d+/.exec(headers.get('range') ?? '')?.[0] ?? 0);

/** How a server sends the bytes of a file from one on. */
export const partOf = (bytes: Uint8Array<ArrayBuffer>, from: number, isRange = from > 0) =>
  new Response(bytes.subarray(from), {
    status: isRange ? 206 : 200,
    headers: {
      'content-length': String(bytes.length - from),
      ...(isRange && { 'content-range': `bytes ${from}-${bytes.length - 1}/${bytes.length}` }),
    },
  });

export const returning = (status: number) => () => new Response('', { status });

export const linked = (path: string, more: object = {}) => ({
  kind: 'video',
  url: mediaOrigin + path,
  ...more,
});

/** Sends an accident with these links, or that of `/road.mp4`. Returns its id, and what ingest said. */
export async function crash(
  us: World,
  evidence: unknown = [linked('/road.mp4')],
  more: object = {},
) {
  const { data } = await us.send(accident({ notificationLevel: 3, evidence, ...more }));
  const [found] = await rows<{ id: string }>(
    'select id from accidents where account_id = ?1 order by created_at desc, id limit 1',
    us.accountId,
  );
  return { id: String(found?.id), ...data };
}

/** Nothing is copied in the background, but what a test asks for. */
const quiet = { ...env, DELIVERIES: unwoken };

/** Copies what is due, and what would be due later. */
export async function copyAll(us: World) {
  await rows(
    'update evidence set next_at = 0 where account_id = ?1 and next_at is not null',
    us.accountId,
  );
  await copyEvidence(quiet, us.accountId, { until: Date.now() + 60_000, queries: 800 });
}

/** Copies what is due until the invocation has no more queries, which is after a part. */
export const copyPart = ({ accountId }: World) =>
  copyEvidence(quiet, accountId, { until: Date.now() + 60_000, queries: 4 });

export async function filesOf(us: World, id: string) {
  const { data } = await us.api.get<{ evidence?: FileOut[] }>(`/accidents/${id}`);
  return data.evidence ?? [];
}
